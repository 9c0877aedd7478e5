eval attribute-out-of-range.nest --set kib=-1
