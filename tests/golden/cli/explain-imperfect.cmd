explain --set tm=60 --set tn=50 --set tk=30 gemm.nest
