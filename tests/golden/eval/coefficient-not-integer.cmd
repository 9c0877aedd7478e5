eval coefficient-not-integer.nest --set s=1.5
