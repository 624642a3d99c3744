"""Increments inside of expressions as statements of their own: `y[k++] = x` -> `y[k] = x; k++`."""

from __future__ import annotations

from dataclasses import replace

from .c_types import IntegerType
from .tree import (
    Assignment,
    Binary,
    Call,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    Name,
    Statement,
    Unsupported,
    parts_of,
    walk,
    with_parts,
)


def apart(node: Statement) -> list[Statement]:
    """A statement without increments of integers inside: they are before it, or behind it.

    C does not say what the variable is elsewhere in the expression: nothing else may use it.
    """
    whole = node.value if isinstance(node, Declare) else None
    if isinstance(node, Evaluate):
        whole = node.expression
    if whole is None:
        return [node]
    before: list[Expression] = []
    behind: list[Expression] = []
    # An assignment that is a statement, or a value, is one already.
    parts = tuple(_taken(each, before, behind) for each in parts_of(whole))
    if not before and not behind:
        return [node]
    rest = with_parts(whole, parts)
    first, last = (
        [Evaluate(node.place, node.start, node.end, each) for each in part]
        for part in (before, behind)
    )
    if isinstance(node, Declare):
        return [*first, replace(node, value=rest), *last]
    return [*first, Evaluate(node.place, node.start, node.end, rest), *last]


def has_effects(node: Expression) -> bool:
    """Whether an expression does more than to compute a value."""
    return any(
        isinstance(each, Assignment | Call | Unsupported)
        or (isinstance(each, Name) and each.symbol.is_volatile)
        for each in walk(node)
    )


def _taken(node: Expression, before: list[Expression], behind: list[Expression]) -> Expression:
    """The expression with variables in place of their increments, where it is always computed."""
    if isinstance(node, Conditional) or (
        isinstance(node, Binary) and node.operator in ("&&", "||")
    ):
        return node
    if isinstance(node, Assignment):
        if not increments(node):
            return node
        (behind if node.is_postfix else before).append(node)
        return node.target
    old = parts_of(node)
    new = tuple(_taken(each, before, behind) for each in old)
    is_same = all(one is other for one, other in zip(old, new, strict=True))
    return node if is_same else with_parts(node, new)


def increments(node: Assignment) -> bool:
    """Whether this is `k++`, `k += 2` or one of their kin on an integer."""
    return (
        isinstance(node.target, Name)
        and isinstance(node.target.type, IntegerType)
        and bool(node.operator)
        and not any(isinstance(each, Assignment) for each in parts_of(node.value))
    )
