"""First values of the variables of loops, and what steps add to them."""

from __future__ import annotations

from collections.abc import Sequence

from .distances import constant
from .tree import (
    Assignment,
    Binary,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    Name,
    Statement,
    Subscript,
    Symbol,
    bare,
    walk,
)


def is_name(node: Expression, symbol: Symbol) -> bool:
    """Whether an expression is a variable."""
    return isinstance(node, Name) and node.symbol is symbol


def added(node: Expression, symbol: Symbol) -> tuple[int, Expression] | None:
    """The sign and the amount: `i += a`, `i -= a`, `i = i + a`, `i = i - a`, `i = a + i`."""
    if not isinstance(node, Assignment) or not is_name(node.target, symbol):
        return None
    value = bare(node.value)
    if node.operator in ("+", "-"):
        return (1 if node.operator == "+" else -1), node.value
    if not node.operator and isinstance(value, Binary) and value.operator in ("+", "-"):
        if is_name(bare(value.left), symbol):
            return (1 if value.operator == "+" else -1), value.right
        if value.operator == "+" and is_name(bare(value.right), symbol):
            return 1, value.left
    return None


def first_value(first: Sequence[Statement], symbol: Symbol) -> Expression | None:
    """The first value of a variable, which stays what it is where nothing in it is assigned."""
    for each in first:
        value = None
        if isinstance(each, Declare) and each.symbol is symbol:
            value = each.value
        elif isinstance(each, Evaluate) and isinstance(each.expression, Assignment):
            expression = each.expression
            if is_name(expression.target, symbol) and not expression.operator:
                value = expression.value
        if value is not None:
            parts = list(walk(value))
            fixed = not any(isinstance(one, Assignment | Call | Subscript) for one in parts)
            return value if fixed and not _is_shared(parts) else None
    return None


def _is_shared(parts: Sequence[Expression]) -> bool:
    """Whether others may set a variable among these."""
    names = (each.symbol for each in parts if isinstance(each, Name))
    return any(each.is_global or each.has_address for each in names)


def step_of(steps: Sequence[Statement], symbol: Symbol) -> int | None:
    """The constant that the steps add to a variable."""
    for each in steps:
        found = added(each.expression, symbol) if isinstance(each, Evaluate) else None
        if found is not None and (amount := constant(found[1])) is not None:
            return found[0] * amount
    return None


def sets(node: Expression, symbols: set[Symbol]) -> bool:
    """Whether an expression assigns one of several variables."""
    return (
        isinstance(node, Assignment)
        and isinstance(node.target, Name)
        and node.target.symbol in symbols
    )


def first_of(loop: For) -> Expression | None:
    """The first value of the variable of a loop."""
    if isinstance(loop.first, Declare):
        return loop.first.value
    expression = loop.first.expression if isinstance(loop.first, Evaluate) else None
    return expression.value if isinstance(expression, Assignment) else None


def step_by(node: Expression, symbol: Symbol | None) -> int | None:
    """The constant that is added to a variable."""
    found = None if symbol is None else added(node, symbol)
    amount = None if found is None else constant(found[1])
    return None if found is None or amount is None else found[0] * amount
