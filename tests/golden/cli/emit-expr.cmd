emit expr gemm.nest
