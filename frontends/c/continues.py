"""`continue` as the other branch of its condition."""

from __future__ import annotations

from .c_types import INT
from .tree import Block, If, Refused, Statement, Unary

REASON = "'continue' is not supported"
HINT = "write the opposite condition as an 'if'"


def without_continue(body: Block) -> Block:
    """The body of a loop where what follows `if (test) continue;` is under the opposite condition.

    A `continue` elsewhere stays, and is refused.
    """
    return Block(body.place, body.start, body.end, _folded(body.statements))


def _folded(statements: list[Statement]) -> list[Statement]:
    for position, statement in enumerate(statements):
        before, rest = statements[:position], statements[position + 1 :]
        if _is_continue(statement):
            return before  # what follows never runs
        if not isinstance(statement, If):
            continue
        one, other = statement.one.statements, statement.other.statements
        if one and _is_continue(one[-1]):
            one, other = _folded(one), _folded([*other, *rest])
        elif other and _is_continue(other[-1]):
            one, other = _folded([*one, *rest]), _folded(other)
        else:
            continue
        return [*before, _branches(statement, one, other)]
    return statements


def _is_continue(statement: Statement) -> bool:
    return isinstance(statement, Refused) and statement.reason == REASON


def _branches(statement: If, one: list[Statement], other: list[Statement]) -> If:
    test = statement.test
    if not one:
        test, one, other = Unary(test.place, INT, "!", test), other, []
    last = [*one, *other][-1] if one or other else statement
    place, start, end = statement.place, statement.start, last.end
    blocks = (Block(place, start, end, each) for each in (one, other))
    return If(place, start, end, test, *blocks)
