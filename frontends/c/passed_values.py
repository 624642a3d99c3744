"""Calls as expressions: what they run, and what stands for a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from clang import cindex

from .c_types import CType, NumberType
from .tree import Binary, Call, Cast, Expression, Name, Statement, Subscript, Symbol, Unary, walk

Inliner: TypeAlias = (
    "Callable[[cindex.Cursor, Sequence[Expression]], tuple[list[Statement], Name] | None]"
)
"""The statements that a call runs, and what stands for its result."""

LARGEST = 500
"""Parts of an expression that takes the place of a call."""


def has_statements(node: Expression) -> bool:
    """Whether an expression calls a function that is more than an expression of its parameters."""
    for each in walk(node):
        if isinstance(each, Call) and each.is_defined and not each.is_pure:
            if each.inlined is None:
                return True
            own = {*each.parameters, *(symbol for symbol, _ in each.variables)}
            read = (each.inlined, *(value for _, value in each.variables))
            names = (one for part in read for one in walk(part) if isinstance(one, Name))
            if any(name.symbol not in own and name.symbol.constant is None for name in names):
                return True
            if any(map(has_statements, read)):
                return True
    return False


def converted(value: Expression, kind: CType) -> Expression:
    return Cast(value.place, kind, value, explicit=False) if value.type != kind else value


def passed(parameter: Symbol, argument: Expression) -> Expression:
    """What stands for a parameter in the expression that a function returns."""
    if isinstance(parameter.type, NumberType):
        return converted(argument, parameter.type)
    if isinstance(argument, Unary) and isinstance(argument.operand, Subscript):  # &a[i]
        element = argument.operand
        return Binary(argument.place, argument.type, "+", element.base, element.index)
    return argument
