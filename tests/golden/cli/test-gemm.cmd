test gemm.nest
