sweep -q --sweep both --format json space.nest
