emit ast utf-16.nest
