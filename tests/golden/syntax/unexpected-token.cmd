emit ast unexpected-token.nest
