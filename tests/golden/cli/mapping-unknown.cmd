eval --mapping oss gemm.nest
