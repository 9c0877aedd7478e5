emit ast no-members.nest
