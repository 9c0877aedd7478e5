eval --set tq=3 gemm.nest
