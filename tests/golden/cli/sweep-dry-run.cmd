sweep --dry-run space.nest
