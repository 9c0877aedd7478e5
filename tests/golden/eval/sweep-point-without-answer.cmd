sweep sweep-point-without-answer.nest
