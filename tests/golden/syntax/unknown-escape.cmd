emit ast unknown-escape.nest
