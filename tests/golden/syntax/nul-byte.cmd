emit ast nul-byte.nest
