emit ast brackets-per-rank.nest
