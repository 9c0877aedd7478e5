explain explain-gaps.nest
