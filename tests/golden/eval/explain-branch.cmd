explain explain-branch.nest
