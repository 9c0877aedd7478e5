emit ast bad-character.nest
