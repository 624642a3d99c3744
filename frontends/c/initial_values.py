"""Initial values of local arrays, as assignments: `double w[3] = {1, 2};`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from clang import cindex

from ...dialects.locations import Location
from .c_types import INT, LONG, ArrayType, NumberType
from .initial_lists import Position, collect, shape, string_elements
from .read_expressions import ExpressionReader
from .side_effects import has_effects
from .tree import (
    Assignment,
    Binary,
    Block,
    Declare,
    Evaluate,
    Expression,
    For,
    Literal,
    Name,
    Statement,
    Subscript,
    Symbol,
)

_MOST = 64
"""Elements that are set one by one; more are first set to zero in a loop."""


def initial_elements(
    symbol: Symbol, values: cindex.Cursor, reader: ExpressionReader
) -> list[Statement] | None:
    """The assignments of all elements, w[0] = 1; w[1] = 2; w[2] = 0; None for other lists."""
    extents, element = shape(symbol.type)
    if not extents or not isinstance(element, NumberType):
        return None
    place = reader.place(values)
    if (text := string_elements(values, symbol.type)) is not None:
        if len(text) > _MOST:
            return None
        literals = [Literal(place, INT, each) for each in text]
        return [
            _set(symbol, [Literal(place, INT, n)], each, place) for n, each in enumerate(literals)
        ]
    given: dict[Position, cindex.Cursor] = {}
    if not collect(values, (), extents, given) or len(given) > _MOST:
        return None
    statements: list[Statement] = []
    positions: Sequence[Position] = list(given)
    if prod(extents) > _MOST:
        statements.append(_zeros(symbol, extents, place))
    else:
        positions = list(product(*map(range, extents)))
    for each in positions:
        value: Expression = Literal(place, INT, 0)
        if each in given:
            value = reader.read(given[each])
            if has_effects(value) and list(given.values()).count(given[each]) > 1:
                return None  # `[0 ... 3] = k++`, which C evaluates once
        subscripts = [Literal(place, INT, number) for number in each]
        statements.append(_set(symbol, subscripts, value, place))
    return statements


def _set(
    symbol: Symbol, subscripts: Sequence[Expression], value: Expression, place: Location
) -> Statement:
    target: Expression = Name(place, symbol.type, symbol)
    for each in subscripts:
        assert isinstance(target.type, ArrayType)
        target = Subscript(place, target.type.element, target, each)
    assigned = Assignment(place, target.type, "", target, value, target.type)
    return Evaluate(place, 0, 0, assigned)


def _zeros(symbol: Symbol, extents: Sequence[int], place: Location) -> Statement:
    """Loops that set all elements to zero."""
    loops = [Symbol(f"{symbol.name}_{n}", LONG, place, 0) for n in range(len(extents))]
    names = [Name(place, LONG, each) for each in loops]
    node = _set(symbol, names, Literal(place, INT, 0), place)
    for loop, extent in reversed(list(zip(loops, extents, strict=True))):
        first = Declare(place, 0, 0, loop, Literal(place, LONG, 0))
        test = Binary(place, INT, "<", Name(place, LONG, loop), Literal(place, LONG, extent))
        counter = Name(place, LONG, loop)
        step = Assignment(place, LONG, "+", counter, Literal(place, LONG, 1), LONG)
        node = For(place, 0, 0, first, test, step, Block(place, 0, 0, [node]))
    return node
