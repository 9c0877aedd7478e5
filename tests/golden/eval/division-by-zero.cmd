eval division-by-zero.nest --set t=8
