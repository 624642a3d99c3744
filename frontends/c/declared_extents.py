"""Declared extents of parameters: `double a[h][w]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..text.affine import Affine
from .evaluator import Evaluator
from .tree import Assignment, Expression, Name, Statement, Symbol, all_expressions, walk
from .values import index_of


def sizes_of_extents(symbol: Symbol, statements: Sequence[Statement]) -> set[Symbol]:
    """The variables in a parameter's extents, which have the values that the function is given.

    None where statements may give one of them another value.
    """
    if not symbol.is_parameter:
        return set()
    found = {each.symbol for each in _names(symbol.extents)}
    targets = (each for each in all_expressions(list(statements)) if isinstance(each, Assignment))
    assigned = {each.target.symbol for each in targets if isinstance(each.target, Name)}
    lasting = all(each.is_parameter and not each.has_address for each in found)
    return found if lasting and not found & assigned else set()


def declared_extents(
    symbol: Symbol, expressions: Evaluator, statements: Sequence[Statement]
) -> Iterator[tuple[int, Affine]]:
    """The dimensions of a parameter whose extents are affine, each with its extent."""
    names = {each.symbol for each in _names(symbol.extents)}
    if not symbol.is_parameter or names != sizes_of_extents(symbol, statements):
        return
    for dimension, extent in enumerate(symbol.extents):
        found = expressions.static(extent)
        index = None if found is None else index_of(found)
        if index is not None and index.affine is not None:
            yield dimension, index.affine


def _names(extents: Sequence[Expression]) -> Iterator[Name]:
    for extent in extents:
        yield from (each for each in walk(extent) if isinstance(each, Name))
