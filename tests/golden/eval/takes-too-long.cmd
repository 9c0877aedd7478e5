eval takes-too-long.nest --set t=900000
