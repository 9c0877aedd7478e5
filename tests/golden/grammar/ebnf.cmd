grammar --format ebnf
