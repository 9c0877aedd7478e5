emit ast comma.nest
