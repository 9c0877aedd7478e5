eval elements-to-list.nest
