"""Affine regions of a C file: those between `#pragma scop` and `#pragma endscop`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...dialects.errors import SourceError
from ...dialects.source_location import Location
from .c_source import CSource
from .tree import (
    Block,
    For,
    Function,
    Refused,
    Statement,
    While,
    all_statements,
    blocks_of,
    expressions_of,
)

_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+(scop|endscop)\b", re.ASCII)
_SPACE = re.compile(rb"//[^\n]*|/\*.*?\*/|[\s;]", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


@dataclass(eq=False)
class Region:
    """Statements of a function, one after the other: `block` has them.

    `around` are the statements that it lies in, from the outermost one.
    """

    function: Function
    block: Block
    place: Location
    around: tuple[Statement, ...]
    name: str = ""
    is_marked: bool = False

    @property
    def behind(self) -> list[Statement]:
        """What may run behind the region: all that follows, and what a loop repeats."""
        body = self.function.body
        if self.function.has_labels:
            return [_without(body, self.block)]
        return list(_behind(body, self.block))

    @property
    def has_own_text(self) -> bool:
        """Whether its text is of its statements alone: all of a macro's expansion, or nothing."""
        block = self.block
        if self.is_marked:
            return True
        is_run = block.start < block.end and is_run_of(block.statements, self.function)
        return is_run and _is_apart(self.function.body, block)

    @property
    def keeps_jumps(self) -> bool:
        """Whether no jump leads out of it, but to what is right behind it, nor into its middle."""
        start, end = self.block.start, self.block.end
        text = self.function.source.data
        for begin, target in self.function.jumps:
            is_behind = end <= target and not _SPACE.sub(b"", text[end:target])
            if start <= begin < end:
                if not (start <= target <= end or is_behind):
                    return False
            elif start < target < end:
                return False
        return True


def is_run_of(statements: Sequence[Statement], function: Function) -> bool:
    """Whether statements follow each other in the text, too.

    Those behind `if (test) A else continue;` are in one block with A, but not between its braces.
    """
    start = min(each.start for each in statements)
    end = max(map(_end, statements))
    for run in function.runs:
        first = next((n for n, text in enumerate(run) if start in text[:2]), None)
        if first is not None and any(text[2] == end for text in run[first:]):
            return True
    return False


def _end(statement: Statement) -> int:
    """Where the text of a statement ends, which a group of statements has not of its own."""
    inner = [each for block in blocks_of(statement) if block.is_group for each in block.statements]
    return max(map(_end, inner), default=statement.end)


def pragma_regions(functions: Sequence[Function], source: CSource) -> list[Region]:
    """The marked regions, each with a name; raises SourceError."""
    found: list[Region] = []
    for begin, end in _marks(source):
        place = _place(source, begin)
        function = next((f for f in functions if f.start <= begin and end <= f.end), None)
        if function is None:
            raise SourceError("this region is in no function", place, "put both marks into one")
        around, statements = _enclosed(function.body, begin, end, (), place)
        if not statements:
            raise SourceError("there is nothing in this region", place)
        if not is_run_of(statements, function):
            raise _different_blocks(place)
        block = Block(statements[0].place, begin, end, statements)
        found.append(Region(function, block, place, around, is_marked=True))
    return named(found)


def named(regions: Sequence[Region]) -> list[Region]:
    """Gives each region the name of its function, with a number where that has several."""
    for region in regions:
        same = [each for each in regions if each.function is region.function]
        name = plain_name(region.function)
        region.name = name if len(same) == 1 else f"{name}_{same.index(region)}"
    return list(regions)


def plain_name(function: Function) -> str:
    """The name of a function, as MLIR may have it."""
    return re.sub(r"\W", "_", function.name, flags=re.ASCII)


def _marks(source: CSource) -> Iterator[tuple[int, int]]:
    """The offsets behind `#pragma scop` and of `#pragma endscop`."""
    text = source.data.decode("latin-1")  # a character for each byte
    blank = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    begin: int | None = None
    offset = 0
    for line in blank.split("\n"):
        match = _PRAGMA.match(line)
        if match is not None and match.group(1) == "scop":
            if begin is not None:
                raise SourceError("a region inside of a region", _place(source, offset))
            begin = offset
        elif match is not None:
            if begin is None:
                message = "'#pragma endscop' without '#pragma scop' before it"
                raise SourceError(message, _place(source, offset))
            yield begin, offset
            begin = None
        offset += len(line) + 1
    if begin is not None:
        raise SourceError(
            "'#pragma scop' without '#pragma endscop'",
            _place(source, begin),
            "write #pragma endscop behind the last loop",
        )


def _place(source: CSource, offset: int) -> Location:
    line = source.data.count(b"\n", 0, offset) + 1
    return source.location(line, 1)


def _enclosed(
    block: Block, begin: int, end: int, around: tuple[Statement, ...], place: Location
) -> tuple[tuple[Statement, ...], list[Statement]]:
    """The statements of the innermost block that has the region, between these offsets."""
    inside: list[Statement] = []
    for statement in block.statements:
        if begin <= statement.start and statement.end <= end:
            inside.append(statement)
        elif statement.start < begin and end < statement.end:
            for inner in blocks_of(statement):
                if inner.start <= begin and end <= inner.end:
                    return _enclosed(inner, begin, end, (*around, statement), place)
        elif statement.start < end and begin < statement.end:
            raise _different_blocks(place)
    return around, inside


def _different_blocks(place: Location) -> SourceError:
    hint = "put both marks between the same braces"
    return SourceError("the region begins and ends in different blocks", place, hint)


def _behind(block: Block, region: Block) -> Iterator[Statement]:
    """The statements that may run when the region has run."""
    for statement in block.statements:
        if region.end <= statement.start:
            yield statement
        elif _holds(statement, region):
            repeats = isinstance(statement, For | While | Refused)
            if repeats:  # all of it may run again
                yield _without(statement, region)
            for inner in blocks_of(statement):
                yield from _behind(inner, region)


def _holds(statement: Statement, region: Block) -> bool:
    """Whether the region is inside of a statement, which may have the same text."""
    first = region.statements[0]
    return statement is not first and any(each is first for each in all_statements([statement]))


def _is_apart(block: Block, region: Block) -> bool:
    """Whether what is around and beside a region has other text."""
    for statement in block.statements:
        is_beside = region.end <= statement.start or statement.end <= region.start
        if is_beside or any(each is statement for each in region.statements):
            continue
        for inner in blocks_of(statement):
            if inner.is_group and inner.start <= region.start and region.end <= inner.end:
                return _is_apart(inner, region)
        alone = isinstance(statement, Block) and len(statement.statements) == 1
        if statement.start >= region.start and not alone:
            return False
        for inner in blocks_of(statement):
            is_single = len(inner.statements) == 1 and inner.start == inner.statements[0].start
            if inner.start <= region.start and region.end <= inner.end:
                if inner.end == region.end and not (is_single or alone):
                    return False
                return _is_apart(inner, region)
        return False
    return True


def _without(statement: Statement, region: Block) -> Statement:
    """A statement without what is in the region."""
    if region.start <= statement.start and statement.end <= region.end:
        return Block(statement.place, statement.end, statement.end, [])
    if region.end <= statement.start or statement.end <= region.start:
        return statement
    if isinstance(statement, Block):
        inner = [_without(each, region) for each in statement.statements]
        return Block(statement.place, statement.start, statement.end, inner)
    blocks = tuple(
        Block(each.place, each.start, each.end, [_without(one, region) for one in each.statements])
        for each in blocks_of(statement)
    )
    return Refused(
        statement.place,
        statement.start,
        statement.end,
        "",
        None,
        expressions_of(statement),
        blocks,
    )
