"""Whether names mean in the text of a region what they mean in functions inlined there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...dialects.errors import SourceError
from .regions import Region
from .tree import Block, Declare, For, Statement, Symbol, blocks_of


def check_visible(symbols: Sequence[Symbol], region: Region) -> None:
    """Raises SourceError for a global variable that is hidden, or declared behind the region."""
    function = region.function
    declared = [*function.parameters, *_declared(function.body.statements)]
    own = {(each.name, each.offset) for each in declared}
    names = {each.name for each in declared}
    for symbol in symbols:
        found = re.match(r"\w+", symbol.spelling)
        name = found.group() if found is not None else symbol.name
        is_own = (name, symbol.offset) in own and function.start <= symbol.offset < function.end
        if is_own:
            continue
        if name in names:
            raise SourceError(
                f"'{name}' is a variable of '{function.name}', and a global one that a function "
                "uses which it calls",
                region.place,
                "rename one of them",
            )
        if symbol.place.file == region.place.file and symbol.offset > function.end:
            raise SourceError(
                f"'{name}' is declared behind '{function.name}'",
                region.place,
                f"declare it before '{function.name}'",
            )


def _declared(statements: Sequence[Statement]) -> Iterator[Symbol]:
    """The variables that statements of the function itself declare."""
    for each in statements:
        if isinstance(each, Declare):
            yield each.symbol
        if isinstance(each, For) and isinstance(each.first, Declare):
            yield each.first.symbol
        for block in blocks_of(each):
            if not (isinstance(each, Block) and each.is_inlined):
                yield from _declared(block.statements)
