emit ast keyword-of-another-language.nest
