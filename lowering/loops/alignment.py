"""Loop peeling for aligned vector accesses: those that cross a cache line cost twice.

    for j = 1 to n: B[j] = A[j - 1] + A[j] + A[j + 1], in vectors of 8
    ->  the last iterations of the aligned vector that the loop begins in; whole vectors from there

NumPy's arrays begin 16 bytes behind a line, and loops at any element: how many iterations lie
before the first aligned vector is a remainder that is computed at run time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.ir import BlockArgument, SSAValue

from ...dialects.memref import is_memref
from ...passes.estimate.program_statistics import bytes_of
from ..nest.index_expression import Index
from .ir_builder import IRBuilder

STORE = 2
"""What a store counts among loads."""

LEAST = 32
"""Vectors that begin at multiples of fewer bytes cross the border of a line anyway."""

SHARE = 0.5
"""The part of all accesses along rows that must become aligned. Vectors of different rows begin at
different places then where rows are no multiple of a vector, which was slower where it was tried
(jacobi-2d): probably as what has just been stored as one vector is not loaded as one."""


@dataclass(frozen=True)
class RowAccess:
    """An access along a row of a memref, and the elements before its first one."""

    memref: SSAValue
    place: Index
    is_store: bool

    @property
    def element_bytes(self) -> int:
        """Bytes of an element of the memref."""
        assert is_memref(self.memref.type)
        return bytes_of(self.memref.type.element_type)


def elements_before(
    builder: IRBuilder,
    accesses: Iterable[RowAccess],
    width: int,
    cache_line: int,
    *,
    shuffles: bool,
) -> Index:
    """How many elements lie before the first vector that is aligned in most of the accesses.

    All arguments are taken to begin equally far behind a line, as large arrays of NumPy do. Of
    neighbours along a row, only the first counts with `shuffles`: the others come from the
    vectors at both sides then. 0 where not enough would be aligned, or where that is not known.
    """
    rows = list(dict.fromkeys(accesses))
    counted = _without_neighbours(rows, width) if shuffles else rows
    groups: defaultdict[tuple[object, Index], list[RowAccess]] = defaultdict(list)
    for row in counted:
        unit = _unit(row, width, cache_line)
        place = _reduced(row.place, unit)
        if all(number in builder.values for number in place.variables()):
            groups[(isinstance(row.memref, BlockArgument), unit), place].append(row)
    best = max(groups.values(), key=_weight, default=list[RowAccess]())
    if _weight(best) <= SHARE * _weight(counted):
        return Index()
    chosen = max(best, key=lambda row: row.is_store)
    unit = _unit(chosen, width, cache_line)
    if unit * chosen.element_bytes < LEAST:
        return Index()
    return -(_base(builder, chosen) + chosen.place) % unit


def _unit(row: RowAccess, width: int, cache_line: int) -> int:
    """Of how many elements all vectors begin at a multiple if one does, a line's at most."""
    return gcd(width, cache_line // row.element_bytes)


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


def _base(builder: IRBuilder, row: RowAccess) -> Index:
    """How many elements lie before a memref in memory; local arrays begin where a line does."""
    if not isinstance(row.memref, BlockArgument):
        return Index()
    return builder.address(row.memref) // row.element_bytes


def _reduced(place: Index, unit: int) -> Index:
    """A place modulo a number of elements."""
    terms = tuple((atom, c % unit) for atom, c in place.terms if c % unit)
    return Index(place.constant % unit, terms)
