emit ast missing-closing-brace.nest
