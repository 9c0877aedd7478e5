emit ast stray-close.nest
