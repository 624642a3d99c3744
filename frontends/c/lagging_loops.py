"""Loops with a variable that lags behind: the edges of closed polygons.

for (i = a, j = b; i < n; j = i++) f(i, j)   ->   for (i = a; i < n; i++) f(i, i == a ? b : i - 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .c_types import INT, IntegerType
from .counted_loops import mapped_statement
from .loop_steps import first_value, is_name, sets, step_of
from .tree import (
    Assignment,
    Binary,
    Block,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    Literal,
    Name,
    Statement,
    all_expressions,
    walk,
)


def without_lagging(
    first: list[Statement], steps: list[Statement], body: Block
) -> tuple[list[Statement], list[Statement], Block]:
    """The first statements, steps and body of such a loop; others as they are."""
    same = first, steps, body
    pair = _lagging(steps)
    if pair is None:
        return same
    behind, ahead = pair
    kind, amount = ahead.type, step_of(steps[1:], ahead.symbol)
    begin, before = first_value(first, ahead.symbol), first_value(first, behind.symbol)
    if begin is None or before is None or amount is None or behind.type != kind:
        return same
    if not isinstance(kind, IntegerType) or kind.width < INT.width:
        return same
    used = {
        each.symbol for part in (begin, before) for each in walk(part) if isinstance(each, Name)
    }
    own = {ahead.symbol, behind.symbol}
    if used & own or any(sets(each, used | own) for each in all_expressions(body.statements)):
        return same
    place = steps[0].place
    is_first = Binary(place, INT, "==", ahead, begin)
    last = Binary(place, kind, "-", ahead, Literal(place, kind, amount))
    value = Conditional(place, kind, is_first, before, last)

    def changed(each: Expression) -> Expression:
        return value if is_name(each, behind.symbol) else each

    statements = [mapped_statement(each, changed) for each in body.statements]
    if any(isinstance(each, Declare) and each.symbol is behind.symbol for each in first):
        # It is the loop's own: nothing reads it now.
        first = [each for each in first if getattr(each, "symbol", None) is not behind.symbol]
        steps = steps[1:]
    return first, steps, replace(body, statements=statements)


def _lagging(steps: Sequence[Statement]) -> tuple[Name, Name] | None:
    """The variables of `j = i; i++`."""
    expression = steps[0].expression if len(steps) == 2 and isinstance(steps[0], Evaluate) else None
    if not isinstance(expression, Assignment) or expression.operator:
        return None
    target, value = expression.target, expression.value
    return (target, value) if isinstance(target, Name) and isinstance(value, Name) else None
