sweep -q --format csv space.nest
