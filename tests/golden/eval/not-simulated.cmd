eval --engine all --format csv not-simulated.nest
