emit ast range-call.nest
