eval does-not-fit.nest
