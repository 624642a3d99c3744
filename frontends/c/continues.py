"""`continue`, and `return` without a value, as the other branch of their conditions."""

from __future__ import annotations

from .c_types import INT
from .tree import Block, If, Refused, Statement, Unary

REASON = "'continue' is not supported"
HINT = "write the opposite condition as an 'if'"


def without_continue(body: Block) -> Block:
    """The body of a loop where what follows `if (test) continue;` is under the opposite condition.

    A `continue` elsewhere stays, and is refused.
    """
    return without_jumps(body, REASON)


def without_jumps(body: Block, reason: str) -> Block:
    """The same for statements that end the block, and are refused for this reason."""
    return Block(body.place, body.start, body.end, _folded(body.statements, reason))


def _folded(statements: list[Statement], reason: str) -> list[Statement]:
    for position, statement in enumerate(statements):
        before, rest = statements[:position], statements[position + 1 :]
        if _is_jump(statement, reason):
            return before  # what follows never runs
        if not isinstance(statement, If):
            continue
        one, other = statement.one.statements, statement.other.statements
        if one and _is_jump(one[-1], reason):
            one, other = _folded(one, reason), _folded([*other, *rest], reason)
        elif other and _is_jump(other[-1], reason):
            one, other = _folded([*one, *rest], reason), _folded(other, reason)
        else:
            continue
        return [*before, _branches(statement, one, other)]
    return statements


def _is_jump(statement: Statement, reason: str) -> bool:
    return isinstance(statement, Refused) and statement.reason == reason


def _branches(statement: If, one: list[Statement], other: list[Statement]) -> If:
    test = statement.test
    if not one:
        test, one, other = Unary(test.place, INT, "!", test), other, []
    last = [*one, *other][-1] if one or other else statement
    place, start, end = statement.place, statement.start, last.end
    blocks = (Block(place, start, end, each) for each in (one, other))
    return If(place, start, end, test, *blocks)
