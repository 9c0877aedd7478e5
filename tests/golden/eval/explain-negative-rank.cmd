explain explain-negative-rank.nest
