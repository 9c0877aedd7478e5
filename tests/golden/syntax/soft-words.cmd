emit ast soft-words.nest
