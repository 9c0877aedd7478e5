emit ast quantity-in-a-rank.nest
