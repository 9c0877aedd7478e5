eval gemm.nest
