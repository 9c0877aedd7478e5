emit ast set-form.nest
