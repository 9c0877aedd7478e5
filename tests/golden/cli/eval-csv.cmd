eval --format csv gemm.nest
