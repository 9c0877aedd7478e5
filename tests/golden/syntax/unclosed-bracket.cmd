emit ast unclosed-bracket.nest
