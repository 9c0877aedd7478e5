emit ast nesting-too-deep.nest
