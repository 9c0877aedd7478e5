emit ast missing-opening-brace.nest
