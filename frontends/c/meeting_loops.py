"""Loops whose two variables come towards each other, as loops that count with one of them.

for (i = a, j = b; i < j; i++, j--)   ->   for (i = a, j = b; i < a + (b - a + 1) / 2; i++, j--)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .c_types import INT, LONG, IntegerType, PointerType
from .counted_loops import mapped_statement
from .distances import constant
from .idioms import bare
from .loop_steps import added, is_name
from .tree import (
    Assignment,
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Expression,
    Literal,
    Name,
    Statement,
    Subscript,
    Symbol,
    all_expressions,
    walk,
)


def without_meeting(
    first: list[Statement], test: Expression, steps: list[Statement], body: Block
) -> tuple[list[Statement], Expression, list[Statement], Block]:
    """The parts of such a loop, where the second variable is `b - (i - a)`; others as they are."""
    same = first, test, steps, body
    node = bare(test)
    if not isinstance(node, Binary) or node.operator not in ("<", "<=") or len(steps) != 2:
        return same
    left, right = bare(node.left), bare(node.right)
    if not isinstance(left, Name) or not isinstance(right, Name):
        return same
    low, high = first_value(first, left.symbol), first_value(first, right.symbol)
    steps_of = step_of(steps, left.symbol), step_of(steps, right.symbol)
    if low is None or high is None or left.type != right.type or steps_of != (1, -1):
        return same
    kind = left.type
    is_wide = isinstance(kind, IntegerType) and kind.signed and kind.width >= INT.width
    if not isinstance(kind, PointerType) and not is_wide:
        return same  # The distance of two short integers may have no place in their type.
    used = {each.symbol for part in (low, high) for each in walk(part) if isinstance(each, Name)}
    own = {left.symbol, right.symbol}
    if used & own or any(sets(each, used | own) for each in all_expressions(body.statements)):
        return same
    place = node.place
    distance = LONG if isinstance(kind, PointerType) else kind
    room = Literal(place, distance, 1 if node.operator == "<" else 2)
    apart = Binary(place, distance, "+", Binary(place, distance, "-", high, low), room)
    count = Binary(place, distance, "/", apart, Literal(place, distance, 2))
    test = Binary(place, node.type, "<", left, Binary(place, kind, "+", low, count))
    done = Binary(place, distance, "-", left, low)
    value = Binary(place, kind, "-", high, done)

    def changed(each: Expression) -> Expression:
        return value if is_name(each, right.symbol) else each

    statements = [mapped_statement(each, changed) for each in body.statements]
    if any(isinstance(each, Declare) and each.symbol is right.symbol for each in first):
        # It is the loop's own: nothing reads it now.
        first = [each for each in first if getattr(each, "symbol", None) is not right.symbol]
        steps = [each for each in steps if step_of([each], right.symbol) is None]
    return first, test, steps, replace(body, statements=statements)


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
