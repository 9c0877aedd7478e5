emit ast assign-for-equal.nest
