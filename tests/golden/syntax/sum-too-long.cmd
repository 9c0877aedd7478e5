emit ast sum-too-long.nest
