emit ast number-out-of-range.nest
