test known-answers.nest
