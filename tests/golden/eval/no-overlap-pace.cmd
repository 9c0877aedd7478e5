eval no-overlap-pace.nest
