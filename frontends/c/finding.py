"""Affine regions that nobody has marked: the largest runs of statements that are affine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

from ...dialects.errors import SourceError
from .counted_loops import counts
from .regions import Region, named
from .translate import Translation, translate
from .tree import (
    Assignment,
    Block,
    Evaluate,
    For,
    Function,
    If,
    Name,
    Refused,
    Statement,
    Subscript,
    While,
    all_expressions,
    blocks_of,
)

Check: TypeAlias = Callable[[Translation], None]


@dataclass(frozen=True)
class Found:
    """The regions of a file, and the error for each loop that is in none.

    Those in `opaque` have parts that are not affine, and no affine nest inside.
    """

    regions: list[Region]
    left_out: list[SourceError]
    opaque: set[Region] = field(default_factory=set[Region])


def find_regions(functions: Sequence[Function], check: Check | None = None) -> Found:
    """The regions, in textual order, each with a name.

    `check` raises SourceError for regions that are of no use: parts of them may be.
    """
    found = Found([], [])
    for function in functions:
        _Search(function, check, found).block(function.body, ())
    named(found.regions)
    return found


@dataclass(frozen=True)
class _Search:
    """Looks for regions in a function."""

    function: Function
    check: Check | None
    found: Found

    def block(self, block: Block, around: tuple[Statement, ...]) -> None:
        """Finds the regions in a block; `around` are the statements that it lies in."""
        found, statements = self.found, block.statements
        position = begin = 0
        while position < len(statements):
            statement = statements[position]
            position += 1
            if not _has_loop(statement):
                continue
            error = self._refusal([statement], around)
            if error is not None:
                known, place = len(found.regions), len(found.left_out)
                for inner in () if _is_call(statement) else blocks_of(statement):
                    self.block(inner, (*around, statement))
                inside = found.regions[known:]
                if set(inside) <= found.opaque and self._is_region(statement, around):
                    # No affine nest is inside of it.
                    whole = self._region([statement], around)
                    found.regions[known:] = [whole]
                    found.opaque.add(whole)
                    del found.left_out[place:]
                elif _is_loop(statement):
                    found.left_out.insert(place, error)
                begin = position
                continue
            run = [statement]
            for before in reversed(statements[begin : position - 1]):
                if not _leads(before, run) or self._refusal([before, *run], around) is not None:
                    break
                run.insert(0, before)
            behind = list(takewhile(_may_join, statements[position:]))
            for _ in range(self._longest(run, behind, around)):
                run.append(statements[position])
                position += 1
            found.regions.append(self._region(run, around))
            begin = position

    def _longest(
        self, run: list[Statement], behind: list[Statement], around: tuple[Statement, ...]
    ) -> int:
        """How many of the statements behind a run join it.

        Tried are 1, 2, 4 and so on, then halves: the work is in proportion to their number.
        """
        joined, step = 0, 1
        while step and joined < len(behind):
            count = min(joined + step, len(behind))
            if self._refusal([*run, *behind[:count]], around) is None:
                joined, step = count, step * 2
            else:
                step = (count - joined) // 2
                behind = behind[: count - 1]
        return joined

    def _region(self, statements: list[Statement], around: tuple[Statement, ...]) -> Region:
        first, last = statements[0], statements[-1]
        block = Block(first.place, first.start, last.end, statements)
        return Region(self.function, block, first.place, around, self.function.name)

    def _refusal(
        self, statements: list[Statement], around: tuple[Statement, ...]
    ) -> SourceError | None:
        """Why statements are no affine region; None where they are one."""
        try:
            translation = translate(self._region(statements, around))
            if not translation.is_affine:
                return SourceError("parts of this are not affine", statements[0].place)
            if self.check is not None:
                self.check(translation)
        except SourceError as error:
            return error
        if translation.uses_rotated:
            reason = "pointers are used behind a loop that swaps them"
            return SourceError(reason, statements[0].place)
        if translation.conditional_stores and any(map(_guards_loops, statements)):
            return SourceError("a condition on data is around loops", statements[0].place)
        return None

    def _is_region(self, statement: Statement, around: tuple[Statement, ...]) -> bool:
        """Whether a statement can be a region with parts that are not affine."""
        try:
            translate(self._region([statement], around))
        except SourceError:
            return False
        return True


def _guards_loops(statement: Statement) -> bool:
    """Whether this is no loop, but an `if` with loops in it: these are better regions."""
    if isinstance(statement, Block) and not statement.is_inlined:
        return any(map(_guards_loops, statement.statements))
    return isinstance(statement, If) and _has_loop(statement)


def _leads(statement: Statement, run: list[Statement]) -> bool:
    """Whether a statement may begin the region of others: it gives what they use its value."""
    if isinstance(statement, Evaluate) and isinstance(statement.expression, Assignment):
        target = statement.expression.target
        if isinstance(target, Name):
            names = (each for each in all_expressions(run) if isinstance(each, Name))
            return any(each.symbol is target.symbol for each in names)
    return _may_join(statement)


def _may_join(statement: Statement) -> bool:
    """Whether a statement may end a region: no declaration, nothing about numbers alone."""
    if isinstance(statement, Evaluate):
        expression = statement.expression
        return isinstance(expression, Assignment) and isinstance(expression.target, Subscript)
    return isinstance(statement, For | If)


def _is_call(statement: Statement) -> bool:
    """Whether these are statements in place of a call, which a region has all of or none."""
    return isinstance(statement, Block) and statement.is_inlined


def _is_loop(statement: Statement) -> bool:
    if isinstance(statement, Refused):
        return statement.is_loop
    return isinstance(statement, For) or (isinstance(statement, While) and counts(statement))


def _has_loop(statement: Statement) -> bool:
    if _is_loop(statement) or _is_call(statement):
        return _is_loop(statement)  # a call alone is optimised in its own function
    return any(_has_loop(each) for block in blocks_of(statement) for each in block.statements)
