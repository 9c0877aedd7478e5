eval iteration-space-too-large.nest
