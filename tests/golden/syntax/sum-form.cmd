emit ast sum-form.nest
