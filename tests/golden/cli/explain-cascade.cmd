explain cascade.nest
