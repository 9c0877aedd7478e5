eval rank-too-large.nest
