eval reduction-conflict.nest
