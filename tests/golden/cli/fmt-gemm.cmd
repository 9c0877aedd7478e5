fmt gemm.nest
