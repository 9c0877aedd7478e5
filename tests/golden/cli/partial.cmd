eval --format json partial.nest
