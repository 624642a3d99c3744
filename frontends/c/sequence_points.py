"""Unsequenced modifications: variables that C sets and reads in any order, as in `x = k++ + k`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .tree import (
    Assignment,
    Binary,
    Conditional,
    Expression,
    Name,
    Symbol,
    Unsupported,
    parts_of,
    walk,
    with_parts,
)


def sequenced(node: Expression) -> Expression:
    """The expression, in which an assignment that C does not order is `Unsupported`.

    Those of elements are as they are: others may be different ones.
    """
    clash = next(_clashes(node), None)
    return node if clash is None else _without(node, *clash)


def _clashes(node: Expression) -> Iterator[tuple[Assignment, Symbol]]:
    """The assignments of variables that are used, or set, beside them."""
    parts = parts_of(node)
    for part in parts:
        yield from _clashes(part)
    if is_ordered(node):
        return
    for part in parts:
        beside = (each for other in parts if other is not part for each in walk(other))
        used = {each.symbol for each in beside if isinstance(each, Name)}
        effects = walk(part)
        if isinstance(node, Assignment) and part is node.value and isinstance(node.target, Name):
            effects = effects if node.operator else _late(part)  # the value comes first
        yield from (each for each in _set(effects) if each[1] in used)


def is_ordered(node: Expression) -> bool:
    """Whether the first operand is evaluated before the others."""
    is_logical = isinstance(node, Binary) and node.operator in ("&&", "||")
    return is_logical or isinstance(node, Conditional)


def _set(parts: Iterable[Expression]) -> Iterator[tuple[Assignment, Symbol]]:
    for each in parts:
        if isinstance(each, Assignment) and isinstance(each.target, Name):
            yield each, each.target.symbol


def _late(node: Expression) -> Iterator[Expression]:
    """The parts of an expression whose effects may come when its value is known."""
    yield node
    for part in parts_of(node)[is_ordered(node) :]:
        yield from _late(part)


def _without(node: Expression, clash: Assignment, symbol: Symbol) -> Expression:
    if node is clash:
        reason = f"unsequenced modification and access of '{symbol.spelling}'"
        return Unsupported(node.place, node.type, reason, "write two statements", parts_of(node))
    old = parts_of(node)
    new = tuple(_without(each, clash, symbol) for each in old)
    is_same = all(one is other for one, other in zip(old, new, strict=True))
    return node if is_same else with_parts(node, new)
