eval figure-too-large.nest
