emit ast bad-number.nest
