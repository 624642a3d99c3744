"""Increments inside of expressions as statements of their own: `y[k++] = x` -> `y[k] = x; k++`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .c_types import BOOL, CType, IntegerType
from .tree import (
    Assignment,
    Binary,
    Call,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    Name,
    Statement,
    Subscript,
    Symbol,
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
    if not _may_part(whole):
        return [node]
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


def tested(test: Expression) -> tuple[list[Expression], Expression]:
    """A condition without increments inside, and those, which stand before it.

    if (k++ < n) A   ->   k++; if (k - 1 < n) A
    """
    before: list[Expression] = []
    behind: list[Expression] = []
    if not _may_part(test):
        return [], test
    left = _taken(test, before, behind)
    old = {
        each.target.symbol: each
        for each in behind
        if isinstance(each, Assignment) and isinstance(each.target, Name)
    }
    if len(old) != len(behind) or any(each.type == BOOL for each in old):
        return [], test  # what a truth value was cannot be computed from what it is
    return [*before, *behind], _with_old(left, old)


def _with_old(node: Expression, moved: Mapping[Symbol, Assignment]) -> Expression:
    """The expression with what variables were before they moved."""
    if isinstance(node, Name) and (step := moved.get(node.symbol)) is not None:
        back = {"+": "-", "-": "+"}[step.operator]
        value = Binary(node.place, step.computed, back, _as(node, step.computed), step.value)
        return _as(value, node.type)
    old = parts_of(node)
    new = tuple(_with_old(each, moved) for each in old)
    is_same = all(one is other for one, other in zip(old, new, strict=True))
    return node if is_same else with_parts(node, new)


def _as(node: Expression, kind: CType) -> Expression:
    return node if node.type == kind else Cast(node.place, kind, node, explicit=False)


def _may_part(whole: Expression) -> bool:
    """Whether elements that move inside of an expression can do so before or behind it.

    `out[--count[k]] = x` can, as nothing else in it uses `count`, and nothing that leads to the
    element is assigned.
    """
    parts = parts_of(whole) if isinstance(whole, Assignment) else (whole,)
    inside = [each for part in parts for each in walk(part)]
    moved = [each for each in inside if isinstance(each, Assignment) and _is_element(each)]
    if not moved:
        return True
    root = _root(moved[0].target)
    if len(moved) > 1 or root is None:
        return False
    uses = [each for each in walk(whole) if isinstance(each, Name) and each.symbol is root]
    target = _root(whole.target) if isinstance(whole, Assignment) else None
    leading = {each.symbol for each in walk(moved[0].target) if isinstance(each, Name)}
    others = [each for each in walk(whole) if isinstance(each, Assignment) and each is not moved[0]]
    changed = {_root(each.target) for each in others}
    return len(uses) == 1 and target not in leading and not changed & leading


def _is_element(node: Assignment) -> bool:
    return isinstance(node.target, Subscript) and increments(node)


def _root(target: Expression) -> Symbol | None:
    while isinstance(target, Subscript):
        target = target.base
    return target.symbol if isinstance(target, Name) else None


def increments(node: Assignment) -> bool:
    """Whether this is `k++`, `k += 2` or one of their kin on an integer, also an element."""
    return (
        isinstance(node.target, Name | Subscript)
        and isinstance(node.target.type, IntegerType)
        and bool(node.operator)
        and not any(isinstance(each, Assignment) for each in parts_of(node.value))
    )
