eval --format json gemm.nest
