eval empty.nest
