sweep -q space.nest
