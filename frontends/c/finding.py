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

    translations: list[Translation]
    left_out: list[SourceError]
    opaque: list[Translation] = field(default_factory=list[Translation])


def find_regions(functions: Sequence[Function], check: Check | None = None) -> Found:
    """The regions, in textual order, each with a name.

    `check` raises SourceError for regions that are of no use: parts of them may be.
    """
    found = Found([], [])
    for function in functions:
        _Search(function, check, found).block(function.body, ())
    named([each.region for each in found.translations])
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
            best, error = self._tried([statement], around)
            if best is None or error is not None:
                self._parts(statement, around, best, error)
                begin = position
                continue
            run = [statement]
            for before in reversed(statements[begin : position - 1]):
                if not _leads(before, run):
                    break
                longer, error = self._tried([before, *run], around)
                if longer is None or error is not None:
                    break
                best = longer
                run.insert(0, before)
            behind = list(takewhile(_may_join, statements[position:]))
            best = self._longest(best, behind, around)
            position += len(best.region.block.statements) - len(run)
            found.translations.append(best)
            begin = position

    def _parts(
        self,
        statement: Statement,
        around: tuple[Statement, ...],
        whole: Translation | None,
        error: SourceError | None,
    ) -> None:
        """Finds the regions in a statement that is none, as the error says."""
        found = self.found
        known, place = len(found.translations), len(found.left_out)
        for inner in () if _is_call(statement) else blocks_of(statement):
            self.block(inner, (*around, statement))
        inside = found.translations[known:]
        is_whole = whole is not None and self._belongs_together(whole)
        if whole is not None and (is_whole or all(each in found.opaque for each in inside)):
            # No affine nest is in it, or one that the loops around it belong to.
            del found.translations[known:], found.left_out[place:]
            problem = self._problem(whole)
            if problem is not None:
                found.left_out.append(problem)
            else:
                found.translations.append(whole)
                found.opaque.append(whole)
        elif error is not None and _is_loop(statement):
            found.left_out.insert(place, error)

    def _belongs_together(self, whole: Translation) -> bool:
        """Whether a nest with statements that are not affine is better than what is in it.

        Not where a check asks for affine ones.
        """
        return self.check is None and not whole.is_affine and whole.has_affine_loops

    def _longest(
        self, first: Translation, behind: list[Statement], around: tuple[Statement, ...]
    ) -> Translation:
        """The region of a run with as many of the statements behind it as may join it.

        Tried are 1, 2, 4 and so on, then halves: the work is in proportion to their number.
        """
        best, run = first, first.region.block.statements
        joined, step = 0, 1
        while step and joined < len(behind):
            count = min(joined + step, len(behind))
            longer, error = self._tried([*run, *behind[:count]], around)
            if longer is not None and error is None:
                best, joined, step = longer, count, step * 2
            else:
                step = (count - joined) // 2
                behind = behind[: count - 1]
        return best

    def _region(self, statements: list[Statement], around: tuple[Statement, ...]) -> Region:
        first, last = statements[0], statements[-1]
        block = Block(first.place, first.start, last.end, statements)
        return Region(self.function, block, first.place, around)

    def _tried(
        self, statements: list[Statement], around: tuple[Statement, ...]
    ) -> tuple[Translation | None, SourceError | None]:
        """Statements as a region, and why they are no affine one."""
        try:
            translation = translate(self._region(statements, around))
        except SourceError as error:
            return None, error
        reason = None
        if not translation.is_affine:
            reason = "parts of this are not affine"
        elif translation.uses_rotated:
            reason = "pointers are used behind a loop that swaps them"
        elif translation.conditional_stores and any(map(_guards_loops, statements)):
            reason = "a condition on data is around loops"
        if reason is not None:
            return translation, SourceError(reason, statements[0].place)
        return translation, self._problem(translation)

    def _problem(self, translation: Translation) -> SourceError | None:
        """Why a region is of no use."""
        try:
            if self.check is not None:
                self.check(translation)
        except SourceError as error:
            return error
        return None


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
