eval hardware-only.nest
