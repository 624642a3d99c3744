"""Scatters of adjacent columns as an in-register transposition and row stores.

    scatter A[i ... i + 3][j], a                  r0, r1, r2, r3 = transpose a, b, c, d
    scatter A[i ... i + 3][j + 1], b              store A[i][j ... j + 3], r0
    scatter A[i ... i + 3][j + 2], c      ->      store A[i + 1][j ... j + 3], r1
    scatter A[i ... i + 3][j + 3], d              store A[i + 2][j ... j + 3], r2
                                                  store A[i + 3][j ... j + 3], r3

A scatter takes a store per lane. There are as many columns as rows of a block. All are stored where
the last scatter stands; nothing in between may touch the memref.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.vector import ScatterOp
from ..loops.alias_analysis import Numbering, touched_memrefs
from ..nest.index_expression import Index
from .known_lanes import column_of
from .transposed_loads import RowLanes, row_lanes


@dataclass(frozen=True)
class TransposedStores:
    """Scatters of the columns `first`, `first + 1` ... of the same rows, a whole block of them.

    Rows of lanes that are not active are left alone. `last` is the last one in the code.
    """

    scatters: tuple[ScatterOp, ...]
    lanes: RowLanes
    last: ScatterOp


@dataclass(frozen=True)
class _Rows:
    """Where scatters begin but for a constant, their type and lanes."""

    place: tuple[Index, ...]
    kind: Attribute
    lanes: RowLanes

    @property
    def are_apart(self) -> bool:
        """Whether rows of as many columns as a block has have no elements in common."""
        pairs = zip(self.lanes.offsets, self.lanes.active, strict=True)
        starts = [offset for offset, is_active in pairs if is_active]
        return all(abs(a - b) >= self.lanes.block for a, b in combinations(starts, 2))


@dataclass
class _Waiting:
    """Scatters to the same rows, by their columns, with nothing else in between."""

    rows: _Rows
    columns: dict[int, ScatterOp] = field(default_factory=dict[int, ScatterOp])

    def complete(self, column: int) -> TransposedStores | None:
        """The group that a column makes complete, which then waits no more."""
        count = self.rows.lanes.block
        for first in range(column - count + 1, column + 1):
            run = range(first, first + count)
            if all(each in self.columns for each in run):
                last = self.columns[column]
                scatters = tuple(self.columns.pop(each) for each in run)
                return TransposedStores(scatters, self.rows.lanes, last)
        return None


def transposed_stores(
    block: Block, *, noalias: bool, vector_bits: int
) -> Mapping[Operation, TransposedStores]:
    """The scatters of a block that are better done together, each with its group.

    `noalias` says that no two memrefs share memory.
    """
    result: dict[Operation, TransposedStores] = {}
    numbering = Numbering()
    waiting: dict[SSAValue, _Waiting] = {}
    for operation in block.ops:
        touched = touched_memrefs(operation)
        if operation.regions or (touched and not noalias):
            waiting = {memref: group for memref, group in waiting.items() if [memref] == touched}
        rows = _rows(operation, numbering, vector_bits)
        if rows is None:
            for memref in touched:
                waiting.pop(memref, None)
            continue
        assert isinstance(operation, ScatterOp)
        found, column = rows
        group = waiting.get(operation.base)
        if group is None or group.rows != found or column in group.columns:
            group = waiting[operation.base] = _Waiting(found)
        group.columns[column] = operation
        complete = group.complete(column)
        if complete is not None:
            result.update(dict.fromkeys(complete.scatters, complete))
    return result


def _rows(operation: Operation, numbering: Numbering, vector_bits: int) -> tuple[_Rows, int] | None:
    """Rows and first column of a scatter to rows that are far apart; else None."""
    if not isinstance(operation, ScatterOp):
        return None
    kind = operation.value_to_store.type
    lanes = row_lanes(operation.index_vec, operation.mask, kind, vector_bits)
    if lanes is None:
        return None
    place, column = column_of(operation, numbering)
    rows = _Rows(place, kind, lanes)
    return (rows, column) if rows.are_apart else None
