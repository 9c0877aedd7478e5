explain strided.nest
