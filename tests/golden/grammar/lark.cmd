grammar --format lark
