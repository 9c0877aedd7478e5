emit ast no-reduction.nest
