emit ast broken-head.nest
