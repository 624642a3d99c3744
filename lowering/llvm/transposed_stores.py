"""Scatters of adjacent columns as an in-register transposition and row stores.

    scatter A[i ... i + 3][j], a                  r0, r1, r2, r3 = transpose a, b, c, d
    scatter A[i ... i + 3][j + 1], b              store A[i][j ... j + 3], r0
    scatter A[i ... i + 3][j + 2], c      ->      store A[i + 1][j ... j + 3], r1
    scatter A[i ... i + 3][j + 3], d              store A[i + 2][j ... j + 3], r2
                                                  store A[i + 3][j ... j + 3], r3

A scatter takes a store per lane. There are as many columns as rows of a block. All are stored where
the last scatter stands; nothing in between may touch the memref, but for gathers of other columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.memref import behind_casts
from ...dialects.vector import GatherOp, ScatterOp
from ..loops.alias_analysis import Numbering, touched_memrefs
from ..memory.updated_columns import UpdatedColumns
from .row_lanes import RowLanes, RowsApart, rows_apart


@dataclass(frozen=True)
class TransposedStores:
    """Scatters of the columns `first`, `first + 1` ... of the same rows, a whole block of them.

    Rows of lanes that are not active are left alone. `last` is the last one in the code.
    """

    scatters: tuple[ScatterOp, ...]
    lanes: RowLanes
    last: ScatterOp


@dataclass
class _Waiting:
    """Scatters to the same rows, by their columns, with nothing else in between."""

    rows: RowsApart
    columns: dict[int, ScatterOp] = field(default_factory=dict[int, ScatterOp])

    def add(self, column: int, scatter: ScatterOp) -> None:
        """Adds a scatter; those that store to a place of it stay in front of it, and join none."""
        offsets = self.rows.lanes.offsets
        places = {offset + column for offset in offsets}
        for other in [*self.columns]:
            if not places.isdisjoint(offset + other for offset in offsets):
                del self.columns[other]
        self.columns[column] = scatter

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
    rows_of = cache(partial(rows_apart, numbering=numbering, vector_bits=vector_bits))
    updated = UpdatedColumns(rows_of)
    waiting: dict[SSAValue, _Waiting] = {}
    for operation in block.ops:
        touched = {*map(behind_casts, touched_memrefs(operation))}
        if operation.regions or (touched and not noalias):
            waiting = {memref: group for memref, group in waiting.items() if {memref} == touched}
        is_apart = isinstance(operation, GatherOp | ScatterOp) and updated.commutes(operation)
        if is_apart and isinstance(operation, GatherOp):
            continue
        rows = rows_of(operation) if isinstance(operation, ScatterOp) else None
        if rows is None or not isinstance(operation, ScatterOp):
            for memref in touched:
                waiting.pop(memref, None)
            continue
        found, column = rows
        memory = behind_casts(operation.base)
        group = waiting.get(memory)
        if group is None or group.rows != found:
            group = waiting[memory] = _Waiting(found)
        group.add(column, operation)
        complete = group.complete(column)
        if complete is not None:
            result.update(dict.fromkeys(complete.scatters, complete))
    return result
