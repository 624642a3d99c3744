"""Loops whose two variables come towards each other, as loops that count with one of them.

for (i = a, j = b; i < j; i++, j--)   ->   for (i = a, j = b; i < a + (b - a + 1) / 2; i++, j--)
"""

from __future__ import annotations

from dataclasses import replace

from .c_types import INT, LONG, CType, IntegerType, PointerType
from .counted_loops import mapped_statement
from .loop_steps import first_value, is_name, sets, step_of
from .tree import (
    Binary,
    Block,
    Declare,
    Expression,
    Literal,
    Name,
    Statement,
    all_expressions,
    bare,
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
    if not isinstance(kind, PointerType) and not _is_kept(kind, low, node.operator):
        return same
    used = {each.symbol for part in (low, high) for each in walk(part) if isinstance(each, Name)}
    own = {left.symbol, right.symbol}
    if used & own or any(sets(each, used | own) for each in all_expressions(body.statements)):
        return same
    place = node.place
    distance = LONG if isinstance(kind, PointerType) else kind
    two = Literal(place, distance, 2)
    apart = Binary(place, distance, "-", high, low)
    if isinstance(kind, IntegerType) and not kind.signed:  # A sum could wrap around.
        count = Binary(place, distance, "-", apart, Binary(place, distance, "/", apart, two))
    else:
        room = Literal(place, distance, 1 if node.operator == "<" else 2)
        apart = Binary(place, distance, "+", apart, room)
        count = Binary(place, distance, "/", apart, two)
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


def _is_kept(kind: CType, low: Expression, operator: str) -> bool:
    """Whether the variables and their distance are numbers of their type until they have met.

    The distance of two short integers may not be one, nor is what is below zero. From zero on,
    unsigned ones wrap around where they are equal to begin with.
    """
    if not isinstance(kind, IntegerType) or kind.width < INT.width:
        return False
    return kind.signed or (operator == "<" and getattr(bare(low), "value", None) == 0)
