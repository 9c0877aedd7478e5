eval sum-too-long.nest --set t=4000000
