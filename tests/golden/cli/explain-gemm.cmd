explain gemm.nest
