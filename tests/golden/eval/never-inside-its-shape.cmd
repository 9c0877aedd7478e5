eval --format csv never-inside-its-shape.nest
