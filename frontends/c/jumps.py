"""`continue`, `break`, and `return` without a value, as the other branch of their conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .c_types import INT
from .tree import (
    Assignment,
    Binary,
    Block,
    Declare,
    Evaluate,
    Expression,
    If,
    Literal,
    Name,
    Piece,
    Refused,
    Statement,
    Symbol,
    Unary,
    all_statements,
)

CONTINUE = "'continue' is not supported"
BREAK = "'break' is not supported"


def without_jumps(body: Block, reason: str, goes_on: Symbol | None = None) -> Block:
    """A block without statements that end it, which are refused for this reason.

    What follows `if (test) continue;` is under the opposite condition. Where both branches of a
    condition may go on, the variable `goes_on` says whether they do: a jump sets it to 0. Without
    such a variable, these jumps stay: `whole` is without them.
    """
    return replace(body, statements=_folded(body.statements, reason, goes_on))


def whole(body: Block, reason: str) -> Block:
    """A block without such jumps: those that others leave set a variable of its own."""
    simple = without_jumps(body, reason)
    if not has_jump(simple.statements, reason):
        return simple
    symbol = Symbol("goes_on", INT, body.place, 0)
    folded = without_jumps(body, reason, symbol)
    first = Declare(body.place, body.start, body.start, symbol, number(body, 1))
    return replace(folded, statements=[first, *folded.statements])


def has_jump(statements: Sequence[Statement], reason: str) -> bool:
    """Whether statements, outside of their loops, have such a jump."""
    return any(
        is_jump(each, reason)
        or (isinstance(each, Block) and has_jump(each.statements, reason))
        or (
            isinstance(each, If)
            and (has_jump(each.one.statements, reason) or has_jump(each.other.statements, reason))
        )
        for each in statements
    )


def labels(statements: Sequence[Statement]) -> list[Refused]:
    """The labels in statements, which have blocks, and the jumps to labels."""
    pieces = all_statements(statements)
    return [each for each in pieces if isinstance(each, Refused) and each.label]


def number(place: Piece, value: int) -> Expression:
    """A number of type `int`."""
    return Literal(place.place, INT, value)


def assigned(place: Statement, symbol: Symbol, value: int) -> Statement:
    """The assignment of a number to a variable of type `int`."""
    name = Name(place.place, INT, symbol)
    given = Assignment(place.place, INT, "", name, number(place, value), INT)
    return Evaluate(place.place, place.start, place.end, given)


def holds(place: Piece, symbol: Symbol) -> Expression:
    """Whether a variable of type `int` is not 0."""
    return Binary(place.place, INT, "!=", Name(place.place, INT, symbol), number(place, 0))


def _folded(
    statements: Sequence[Statement], reason: str, goes_on: Symbol | None
) -> list[Statement]:
    for position, statement in enumerate(statements):
        before, rest = statements[:position], statements[position + 1 :]
        if is_jump(statement, reason):
            if any(each.blocks for each in labels(rest)):  # what follows may run
                continue
            return [*before, *([] if goes_on is None else [assigned(statement, goes_on, 0)])]
        if not has_jump([statement], reason):
            continue
        if isinstance(statement, Block):
            return [*before, *_folded([*statement.statements, *rest], reason, goes_on)]
        assert isinstance(statement, If)
        one, other = statement.one.statements, statement.other.statements
        behind: list[Statement] = []
        if rest and not _leaves(one, reason) and not _leaves(other, reason):
            if goes_on is None:
                continue
            begin, end = rest[0].start, rest[-1].end
            block = Block(rest[0].place, begin, end, list(rest), is_group=True)
            inner = without_jumps(block, reason, goes_on)
            nothing = replace(inner, start=inner.end, statements=[])
            test = holds(rest[0], goes_on)
            behind = [If(block.place, block.start, block.end, test, inner, nothing)]
            rest = []
        both: list[list[Statement]] = [
            list(each) if _leaves(each, reason) else [*each, *rest] for each in (one, other)
        ]
        parts = (_folded(each, reason, goes_on) for each in both)
        return [*before, _branches(statement, *parts), *behind]
    return list(statements)


def _leaves(statements: Sequence[Statement], reason: str) -> bool:
    """Whether statements always end at a jump."""
    return any(
        is_jump(each, reason)
        or (isinstance(each, Block) and _leaves(each.statements, reason))
        or (
            isinstance(each, If)
            and _leaves(each.one.statements, reason)
            and _leaves(each.other.statements, reason)
        )
        for each in statements
    )


def is_jump(statement: Statement, reason: str) -> bool:
    """Whether a statement is a jump that is refused for this reason."""
    return isinstance(statement, Refused) and statement.reason == reason


def _branches(statement: If, one: list[Statement], other: list[Statement]) -> If:
    test = statement.test
    if not one:
        test, one, other = Unary(test.place, INT, "!", test), other, []
    place, start = statement.place, statement.start
    end = max((each.end for each in (*one, *other)), default=statement.end)
    texts = ((each[0].start, each[-1].end) if each else (end, end) for each in (one, other))
    blocks = (Block(place, *text, each) for text, each in zip(texts, (one, other), strict=True))
    return If(place, start, end, test, *blocks)
