emit ir gemm.nest
