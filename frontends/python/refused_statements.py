"""Statements that kernels do not have: why, and what to write."""

from __future__ import annotations

import ast

from .early_returns import Leave

REFUSED: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.Break: (
        "'break' must be behind an 'if', in a loop over a range or a 'while' loop",
        "give the range its last value",
    ),
    Leave: ("'return' in a loop over constants, or without an 'if'", "write a loop over a range"),
    ast.Continue: ("'continue' is not supported", "write the opposite condition as an 'if'"),
    ast.With: ("'with' is not supported", "write it outside of the kernel"),
    ast.Try: ("'try' is not supported", "kernels raise nothing: write an 'if'"),
    ast.Match: ("'match' is not supported", "write 'if' and 'elif'"),
    ast.Global: ("'global' is not supported", "return the value"),
    ast.Nonlocal: ("'nonlocal' is not supported", "return the value"),
    ast.Delete: ("'del' is not supported", "leave it out"),
    ast.FunctionDef: (
        "a function that is decorated, or is defined in a loop or condition",
        "define it at the top of the kernel",
    ),
    ast.Expr: ("this statement has no effect", "assign the value"),
}

ELSE = (
    "'else' behind this loop is not supported",
    "set a variable where the loop is left, and ask for it behind the loop",
)
