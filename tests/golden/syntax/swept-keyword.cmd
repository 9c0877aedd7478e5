emit ast swept-keyword.nest
