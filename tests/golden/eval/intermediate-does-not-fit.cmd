eval intermediate-does-not-fit.nest
