emit ast reserved-word.nest
