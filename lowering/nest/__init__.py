"""Schedule tree -> isl AST -> loop nest."""
