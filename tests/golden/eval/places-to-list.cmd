eval --format csv --engine analysis places-to-list.nest
