"""Arithmetic expressions of the kernel tables, evaluated without executing code from them.

An expression is written as in Python: integers, floats, names, `+ - * / // % **`, unary minus,
comparisons and `where(condition, a, b)`. Names stand for numbers or NumPy arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

Value = Any
"""A number or a NumPy array: what NumPy's operators take and give."""

BINARY: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
}

COMPARISONS: Mapping[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Eq: lambda a, b: a == b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
}

WHERE: Callable[[Value, Value, Value], Value] = np.where


class ExpressionError(ValueError):
    """An expression that is malformed or uses an unknown name. `str()` is one line."""


@cache
def parse(text: str) -> ast.expr:
    """The syntax tree of `text`; raises ExpressionError."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"not an expression: {text!r}") from error


def evaluate(text: str, names: Mapping[str, Value]) -> Value:
    """The value of the expression `text`; raises ExpressionError.

    `evaluate("i * j % n", {"i": i, "j": j, "n": 4})` broadcasts as NumPy does.
    """

    def value(node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                return BINARY[type(op)](value(left), value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                return COMPARISONS[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id="where"), args=[condition, a, b], keywords=[]):
                return WHERE(value(condition), value(a), value(b))
            case _:
                raise ExpressionError(f"cannot evaluate {ast.unparse(node)!r} in {text!r}")

    return value(parse(text))
