test metric-without-value.nest
