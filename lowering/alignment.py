"""Where the vectors of a loop begin: accesses across the border of a cache line cost twice.

    for j = 1 to n: B[j] = A[j - 1] + A[j] + A[j + 1], in vectors of 8
    ->  the last iterations of the aligned vector that the loop begins in; whole vectors from there

NumPy's arrays begin 16 bytes behind a line, and loops at any element: how many iterations lie
before the first aligned vector is a remainder that is computed at run time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, SSAValue

from ..dialects.memref import is_memref
from ..passes.default.facts import bytes_of
from .index_expression import Index
from .ir_builder import IRBuilder

STORE = 2
"""What a store counts among loads."""

SHARE = 0.5
"""The part of all accesses along rows that must become aligned. Vectors of different rows begin at
different places then where rows are no multiple of a vector; what has just been stored as one
vector is not loaded as one, and takes long."""


@dataclass(frozen=True)
class RowAccess:
    """An access along a row of a memref, and how many elements lie before its first one."""

    memref: SSAValue
    place: Index
    is_store: bool


def elements_before(
    builder: IRBuilder, accesses: Iterable[RowAccess], width: int, *, shuffles: bool
) -> Index:
    """How many elements lie before the first vector that is aligned in most of the accesses.

    Of neighbours along a row, only the first counts with `shuffles`: the others come from the
    vectors at both sides then. 0 where hardly any would be aligned, or where that is not known.
    """
    rows = list(dict.fromkeys(accesses))
    counted = _without_neighbours(rows, width) if shuffles else rows
    groups: defaultdict[Index, list[RowAccess]] = defaultdict(list)
    for row in counted:
        place = _reduced(row.place, width)
        if all(number in builder.values for number in place.variables()):
            groups[place].append(row)
    place = max(groups, key=lambda each: _weight(groups[each]), default=Index())
    if _weight(groups[place]) <= SHARE * _weight(counted):
        return Index()
    chosen = max(groups[place], key=lambda row: row.is_store)
    return -(_base(builder, chosen.memref) + place) % width


def _weight(rows: Sequence[RowAccess]) -> int:
    return sum(STORE if row.is_store else 1 for row in rows)


def _without_neighbours(rows: Sequence[RowAccess], width: int) -> list[RowAccess]:
    """All but the loads that begin less than a vector behind another one of the same memref."""
    kept = [row for row in rows if row.is_store]
    last: dict[tuple[SSAValue, Index], int] = {}
    for row in sorted(rows, key=lambda row: row.place.constant):
        if not row.is_store:
            key = row.memref, row.place - row.place.constant
            if row.place.constant - last.get(key, row.place.constant - width) >= width:
                last[key] = row.place.constant
                kept.append(row)
    return kept


def _base(builder: IRBuilder, memref: SSAValue) -> Index:
    """How many elements lie before a memref in memory; local arrays begin where a line does."""
    if not isinstance(memref, BlockArgument):
        return Index()
    assert is_memref(memref.type)
    return builder.address(memref) // bytes_of(memref.type.element_type)


def _reduced(place: Index, width: int) -> Index:
    """A place modulo the width of a vector."""
    terms = tuple((atom, c % width) for atom, c in place.terms if c % width)
    return Index(place.constant % width, terms)
