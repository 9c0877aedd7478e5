eval too-many-bits.nest --set t=80
