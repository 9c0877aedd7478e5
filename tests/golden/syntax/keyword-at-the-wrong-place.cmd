emit ast keyword-at-the-wrong-place.nest
