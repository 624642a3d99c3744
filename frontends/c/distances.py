"""Distances that pointers move: sums of expressions, and what loops make of them."""

from __future__ import annotations

from typing import TypeAlias

from .c_types import INT, LONG, IntegerType
from .tree import Binary, Conditional, Expression, Literal, Unary, bare, walk, widened

Distance: TypeAlias = "tuple[Expression, ...]"
"""A sum of numbers of type `long`."""


def distance_of(node: Expression, sign: str = "+") -> Distance:
    """An integer as a distance."""
    if isinstance(bare(node), Literal) and getattr(bare(node), "value", None) == 0:
        return ()
    wide = widened(node)
    return (wide if sign == "+" else Unary(node.place, LONG, "-", wide),)


def total(distance: Distance, like: Expression) -> Expression:
    """The sum as one expression."""
    if not distance:
        return Literal(like.place, LONG, 0)
    result = distance[0]
    for each in distance[1:]:
        result = Binary(like.place, LONG, "+", result, each)
    return result


def constant(node: Expression) -> int | None:
    """The value of a literal, with a sign or without."""
    node = bare(node)
    if isinstance(node, Unary) and node.operator == "-":
        value = constant(node.operand)
        return None if value is None else -value
    if isinstance(node, Literal) and isinstance(node.type, IntegerType):
        return int(node.value.real)
    return None


def scaled(distance: Distance, count: Expression) -> Distance:
    """The distance of `count` steps."""
    if constant(count) == 1:
        return distance
    found: list[Expression] = []
    for each in distance:
        one = constant(each) == 1
        found.append(count if one else Binary(each.place, LONG, "*", each, count))
    return tuple(found)


def iterations(first: Expression, value: Expression, step: int) -> Expression:
    """How many iterations a loop has made where its variable has a value: `(i - first) / step`."""
    distance = (
        distance_of(value) + distance_of(first, "-")
        if step > 0
        else (distance_of(first) + distance_of(value, "-"))
    )
    return _divided(total(distance, value), abs(step))


def trips(first: Expression, operator: str, end: Expression, step: int) -> Expression | None:
    """How many iterations a loop makes: `first < end ? (end - first + step - 1) / step : 0`."""
    up = step > 0
    if operator not in (("<", "<=", "!=") if up else (">", ">=", "!=")):
        return None
    low, high = (first, end) if up else (end, first)
    one = Literal(end.place, LONG, 1)
    distance = (
        *distance_of(high),
        *distance_of(low, "-"),
        *((one,) if "=" in operator[1:] and operator != "!=" else ()),
    )
    count = total(distance, end)
    if operator == "!=" and abs(step) != 1:
        return None
    room = Binary(end.place, LONG, "+", count, Literal(end.place, LONG, abs(step) - 1))
    whole = count if abs(step) == 1 else _divided(room, abs(step))
    test = Binary(end.place, INT, ">=", count, Literal(end.place, LONG, 1))
    return Conditional(end.place, LONG, test, whole, Literal(end.place, LONG, 0))


def _divided(node: Expression, step: int) -> Expression:
    if step == 1:
        return node
    return Binary(node.place, LONG, "/", node, Literal(node.place, LONG, step))


def uses(distance: Distance) -> list[Expression]:
    """All expressions in a distance."""
    return [inner for each in distance for inner in walk(each)]
