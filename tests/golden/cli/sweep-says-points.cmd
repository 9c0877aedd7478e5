sweep --sweep most space.nest
