emit ast number-glued-to-a-name.nest
