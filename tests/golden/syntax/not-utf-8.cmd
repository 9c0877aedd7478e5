emit ast not-utf-8.nest
