sweep -q --sweep both --sample 20 space.nest
