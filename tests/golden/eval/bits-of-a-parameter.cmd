eval --set W=16 bits-of-a-parameter.nest
