test --format json utilization-percent.nest
