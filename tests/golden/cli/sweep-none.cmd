sweep convolution.nest
