emit ast misspelt-keyword.nest
