explain convolution.nest
