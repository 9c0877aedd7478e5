emit ast unclosed-text.nest
