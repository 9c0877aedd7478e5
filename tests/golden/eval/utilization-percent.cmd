test utilization-percent.nest
