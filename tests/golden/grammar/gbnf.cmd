grammar --format gbnf
