emit ast lone-unit.nest
