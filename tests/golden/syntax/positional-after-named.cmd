emit ast positional-after-named.nest
