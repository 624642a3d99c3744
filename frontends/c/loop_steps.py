"""What the step of a loop adds to its variable."""

from __future__ import annotations

from .idioms import bare
from .tree import Assignment, Binary, Expression, Name, Symbol


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
