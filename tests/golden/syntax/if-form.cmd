emit ast if-form.nest
