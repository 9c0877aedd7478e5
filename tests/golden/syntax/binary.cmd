emit ast binary.nest
