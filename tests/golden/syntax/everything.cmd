emit ast everything.nest
