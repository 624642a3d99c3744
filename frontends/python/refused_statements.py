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
    ast.FunctionDef: (
        "a function that is decorated, or is defined in a loop or condition",
        "define it at the top of the kernel",
    ),
    ast.Expr: ("this statement has no effect", "assign the value"),
}
