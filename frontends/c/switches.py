"""`switch` as a chain of `if`; a case that goes on in the next one has its statements as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from clang import cindex

from ...dialects.source_location import Location
from .c_types import INT, LONG, IntegerType, promoted
from .clang_library import evaluate
from .jumps import BREAK, whole
from .tree import Binary, Block, Cast, Declare, Expression, If, Literal, Refused, Statement

_MOST = 200
"""Statements of all cases, where those that others fall into are repeated."""

ReadStatements = Callable[[cindex.Cursor], list[Statement]]


@dataclass
class _Case:
    """Labels, with the statements behind them up to the next one."""

    values: list[int] = field(default_factory=list[int])
    is_default: bool = False
    statements: list[Statement] = field(default_factory=list[Statement])
    parts: list[cindex.Cursor] = field(default_factory=list[cindex.Cursor])
    declares: bool = False

    @property
    def falls_through(self) -> bool:
        """Whether the next case runs behind this one."""
        last = self.statements[-1] if self.statements else None
        return not (isinstance(last, Refused) and last.leaves)


def chain(
    cursor: cindex.Cursor, test: Expression, place: Location, read: ReadStatements
) -> Statement | None:
    """The choices of a `switch`; None for one that is none.

    switch (k) { case 1: a(); break; default: b(); }   ->   if (k == 1) a(); else b();
    """
    body = list(cursor.get_children())[-1]
    if body.kind.name != "COMPOUND_STMT" or not isinstance(test.type, IntegerType):
        return None
    cases: list[_Case] = []
    for child in body.get_children():
        inner = child
        if child.kind.name in ("CASE_STMT", "DEFAULT_STMT"):
            cases.append(_Case())
        while inner.kind.name in ("CASE_STMT", "DEFAULT_STMT"):
            *labels, inner = inner.get_children()
            values = [evaluate(each) for each in labels]
            if len(values) > 1 or not all(isinstance(each, int) for each in values):
                return None  # a range of values, or none that is known
            cases[-1].values += [int(each) for each in values if each is not None]
            cases[-1].is_default |= not values
        if not cases:
            return None
        cases[-1].parts.append(inner)
        found = read(inner)
        # What is declared without braces of its own may be used in the cases behind.
        cases[-1].declares |= any(isinstance(each, Declare) for each in found)
        cases[-1].statements += _flat(found)
    if any(case.declares for case in cases[:-1]):
        return None
    for case, following in reversed(list(pairwise(cases))):
        if case.falls_through:
            case.parts += following.parts
            for each in following.parts:  # read once more: no piece is in two places
                case.statements += _flat(read(each))
    if sum(len(case.statements) for case in cases) > _MOST:
        return None
    start, end = cursor.extent.start.offset, cursor.extent.end.offset

    def block(statements: Sequence[Statement]) -> Block:
        return Block(place, start, end, list(statements))

    # A `break` that were left would end the loop around the switch.
    bodies = [whole(block(case.statements), BREAK).statements for case in cases]
    rest = [
        each for case, found in zip(cases, bodies, strict=True) if case.is_default for each in found
    ]
    for case, body_of in reversed(list(zip(cases, bodies, strict=True))):
        if not case.is_default:
            condition = _among(test, case.values, place)
            rest = [If(place, start, end, condition, block(body_of), block(rest))]
    return rest[0] if len(rest) == 1 else block(rest)


def _flat(statements: list[Statement]) -> list[Statement]:
    """The statements of a case in braces, as those of the case."""
    if len(statements) == 1 and isinstance(statements[0], Block):
        return statements[0].statements
    return statements


def _among(test: Expression, values: Sequence[int], place: Location) -> Expression:
    kind = promoted(test.type) if isinstance(test.type, IntegerType) else INT
    found: Expression | None = None
    for value in values:
        constant = Cast(place, kind, Literal(place, LONG, value), explicit=False)
        equal = Binary(place, INT, "==", Cast(place, kind, test, explicit=False), constant)
        found = equal if found is None else Binary(place, INT, "||", found, equal)
    assert found is not None
    return found
