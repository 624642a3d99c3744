"""Calls that are hoisted out of an expression: their statements stand before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .c_types import ArrayType, NumberType
from .tree import (
    Assignment,
    Block,
    Declare,
    Evaluate,
    Expression,
    For,
    Name,
    Statement,
    Subscript,
    Symbol,
    all_expressions,
    all_statements,
    bare,
    blocks_of,
    walk,
)


def spread(statements: Sequence[Statement], start: int, end: int) -> None:
    """Gives statements, and all in them, the text from `start` to `end`."""
    for each in all_statements(statements):
        each.start, each.end = start, end
        for block in blocks_of(each):
            block.start, block.end = start, end


def keeps_order(hoisted: Sequence[Statement], expression: Expression | None) -> bool:
    """Whether an expression is the same with the calls in it made before all else.

    Calls that write memory, but for variables that it does not use, must be all that it computes:
    `x = next(state)`. The left operands of commas are statements already: what else the expression
    has is not sequenced with them.
    """
    written = set(_written([each for each in hoisted if not isinstance(each, Evaluate)]))
    every = () if expression is None else walk(expression)
    used = {each.symbol for each in every if isinstance(each, Name)}
    if not written or (
        expression is not None and all(map(_is_own, written)) and not written & used
    ):
        return True
    calls = [each for each in hoisted if isinstance(each, Block)]
    if expression is None or len(calls) != 1:
        return False
    value = expression
    if isinstance(value, Assignment) and not value.operator:
        if any(isinstance(each, Subscript | Assignment) for each in _parts(value.target)):
            return False
        value = value.value
    results = {each.symbol for each in hoisted if isinstance(each, Declare)}
    value = bare(value)
    return isinstance(value, Name) and value.symbol in results


def _is_own(symbol: Symbol) -> bool:
    """Whether only its name leads to a variable, a number."""
    is_number = isinstance(symbol.type, NumberType)
    return is_number and not (symbol.is_global or symbol.has_address or symbol.is_volatile)


def _parts(target: Expression) -> Iterator[Expression]:
    """What is evaluated to find the element that is assigned."""
    while isinstance(target, Subscript):
        yield from walk(target.index)
        target = target.base


def _written(statements: Sequence[Statement]) -> Iterator[Symbol]:
    """The variables, and arrays, that statements write and do not declare."""
    inside = list(all_statements(statements))
    declared = [*inside, *(each.first for each in inside if isinstance(each, For))]
    own = {each.symbol for each in declared if isinstance(each, Declare)}
    for each in all_expressions(statements):
        target = each.target if isinstance(each, Assignment) else None
        is_element = isinstance(target, Subscript)
        while isinstance(target, Subscript):
            target = target.base
        symbol = target.symbol if isinstance(target, Name) else None
        if symbol is not None:
            is_pointed_at = is_element and not isinstance(symbol.type, ArrayType)
            is_member = symbol.holder in own and not symbol.through
            if not (symbol in own or is_member) or is_pointed_at:
                yield symbol
