eval no-value.nest --set t=0
