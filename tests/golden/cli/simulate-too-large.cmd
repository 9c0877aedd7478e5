simulate gemm.nest
