"""Assignments inside of expressions as statements of their own.

y[k++] = x   ->   y[k] = x; k++        u = r / (b = v)   ->   b = v; u = r / b
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .c_types import BOOL, CType, FloatType, IntegerType
from .sequence_points import is_ordered, sequenced
from .tree import (
    Assignment,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    If,
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
    """A statement without assignments of variables inside: they are before it, or behind it.

    C does not say what the variable is elsewhere in the expression: nothing else may use it.
    """
    whole = node.value if isinstance(node, Declare) else None
    if whole is not None and (value := sequenced(whole)) is not whole:
        return [replace(node, value=value)]
    if isinstance(node, Evaluate):
        whole = node.expression
        if (expression := sequenced(whole)) is not whole:
            return [replace(node, expression=expression)]
        if (choice := _chosen(node)) is not None:
            return [choice]
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


def _chosen(node: Evaluate) -> If | None:
    """`x = t ? y[k--] : z;` as `if (t) x = y[k--]; else x = z;`."""
    whole = node.expression
    if not isinstance(whole, Assignment):
        return None
    casts: list[Cast] = []
    value = whole.value
    while isinstance(value, Cast):
        casts.append(value)
        value = value.operand
    if not isinstance(value, Conditional) or any(
        isinstance(each, Assignment) for part in (value.test, whole.target) for each in walk(part)
    ):
        return None
    if not any(isinstance(each, Assignment) for each in walk(value)):
        return None
    branches: list[Block] = []
    for each in (value.one, value.other):
        branch = each
        for cast in reversed(casts):
            branch = replace(cast, operand=branch)
        statement = replace(node, expression=replace(whole, value=branch))
        branches.append(Block(node.place, node.start, node.end, apart(statement)))
    return If(node.place, node.start, node.end, value.test, *branches)


def has_effects(node: Expression) -> bool:
    """Whether an expression does more than to compute a value."""
    return any(
        isinstance(each, Assignment | Call | Unsupported)
        or (isinstance(each, Name) and each.symbol.is_volatile)
        for each in walk(node)
    )


def _taken(node: Expression, before: list[Expression], behind: list[Expression]) -> Expression:
    """The expression with variables in place of their assignments, where it is always computed."""
    old = parts_of(node)
    if is_ordered(node):
        # The first part is computed before the others: what it increments afterwards, too.
        ahead: list[Expression] = []
        later: list[Expression] = []
        first = _taken(old[0], ahead, later)
        if not ahead or later:
            return node
        before += ahead
        return with_parts(node, (first, *old[1:]))
    if isinstance(node, Assignment):
        if increments(node):
            (behind if node.is_postfix else before).append(node)
            return node.target
        if not _sets_number(node):
            return node
        value = _taken(node.value, before, behind)
        before.append(node if value is node.value else replace(node, value=value))
        return node.target
    new = tuple(_taken(each, before, behind) for each in old)
    is_same = all(one is other for one, other in zip(old, new, strict=True))
    return node if is_same else with_parts(node, new)


def _sets_number(node: Assignment) -> bool:
    """Whether this sets a variable, which is a number, to a value without regard to the old one."""
    return (
        isinstance(node.target, Name)
        and isinstance(node.target.type, IntegerType | FloatType)
        and not node.operator
        and not node.target.symbol.is_volatile
    )


def tested(test: Expression) -> tuple[list[Expression], Expression]:
    """A condition without increments inside, and those, which stand before it.

    if (k++ < n) A   ->   k++; if (k - 1 < n) A
    """
    before: list[Expression] = []
    behind: list[Expression] = []
    test = sequenced(test)
    if not _may_part(test):
        return [], test
    left = _taken(test, before, behind)
    steps = [each for each in behind if isinstance(each, Assignment)]
    names = {each.target.symbol: each for each in steps if isinstance(each.target, Name)}
    elements = [each for each in steps if not isinstance(each.target, Name)]
    if len(names) + len(elements) != len(behind) or any(each.type == BOOL for each in steps):
        return [], test  # what a truth value was cannot be computed from what it is
    leading = (part for each in elements for part in walk(each.target))
    if any(isinstance(each, Name) and each.symbol in names for each in leading):
        return [], test
    return [*before, *behind], _with_old(left, names, elements)


def _with_old(
    node: Expression, moved: Mapping[Symbol, Assignment], elements: Sequence[Assignment]
) -> Expression:
    """The expression with what variables and elements were before they moved."""
    step = next((each for each in elements if each.target is node), None)
    if isinstance(node, Name):
        step = moved.get(node.symbol)
    if step is not None:
        back = {"+": "-", "-": "+"}[step.operator]
        value = Binary(node.place, step.computed, back, _as(node, step.computed), step.value)
        return _as(value, node.type)
    old = parts_of(node)
    new = tuple(_with_old(each, moved, elements) for each in old)
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
