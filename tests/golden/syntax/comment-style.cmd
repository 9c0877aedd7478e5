emit ast comment-style.nest
