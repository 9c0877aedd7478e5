sweep --sweep bot space.nest
