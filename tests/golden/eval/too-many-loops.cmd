eval too-many-loops.nest
