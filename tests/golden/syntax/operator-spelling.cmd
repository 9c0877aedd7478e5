emit ast operator-spelling.nest
