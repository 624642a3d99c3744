"""Scatters of neighbouring columns that together write whole rows, as pixels of several channels.

    scatter A[2 i] ..., a
    scatter A[2 i + 1] ..., b      ->      store A[2 i ...], interleave a, b

All are stored where the last one stands; nothing in between may touch the memref.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.vector import GatherOp, ScatterOp, is_vector
from ..loops.alias_analysis import Numbering, touched_memrefs
from ..nest.index_expression import Index
from .known_lanes import column_of, stride_of, varying_mask


@dataclass(frozen=True)
class InterleavedStores:
    """Scatters of the columns `first`, `first + 1` ... of the same rows, as many as the stride.

    `mask` is the mask that they share, None with all lanes on.
    """

    scatters: tuple[ScatterOp, ...]
    last: ScatterOp
    mask: SSAValue | None


@dataclass(frozen=True)
class _Row:
    """Where scatters begin but for a constant, their type, stride and mask."""

    place: tuple[Index, ...]
    kind: Attribute
    stride: int
    mask: SSAValue | None

    def meet(self, one: int, other: int) -> bool:
        """Whether vectors from two columns on have elements in common."""
        assert is_vector(self.kind)
        apart = abs(one - other)
        return apart % self.stride == 0 and apart < self.stride * self.kind.get_shape()[0]

    def whole(self, columns: Container[int], column: int) -> range | None:
        """The columns of a row with this one, where all are among some columns; else None."""
        firsts = range(column - self.stride + 1, column + 1)
        rows = (range(first, first + self.stride) for first in firsts)
        return next((row for row in rows if all(each in columns for each in row)), None)


_Columns = dict[int, ScatterOp]


def interleaved_stores(block: Block, *, noalias: bool) -> Mapping[Operation, InterleavedStores]:
    """The scatters of a block that are stored together, each with its group.

    `noalias` says that no two memrefs share memory.
    """
    result: dict[Operation, InterleavedStores] = {}
    numbering = Numbering()
    waiting: dict[SSAValue, dict[_Row, _Columns]] = {}
    for operation in block.ops:
        touched = touched_memrefs(operation)
        if operation.regions or (touched and not noalias):
            waiting = {memref: rows for memref, rows in waiting.items() if [memref] == touched}
        found = _row(operation, numbering)
        if found is None:
            for memref in touched:
                waiting.pop(memref, None)
            continue
        row, column = found
        rows = waiting.setdefault(touched[0], {})
        for other in [each for each in rows if each != row and not _are_apart(each, row)]:
            del rows[other]
        columns = rows.setdefault(row, {})
        for each in [each for each in columns if row.meet(each, column)]:
            del columns[each]
        if isinstance(operation, GatherOp):
            continue
        assert isinstance(operation, ScatterOp)
        columns[column] = operation
        whole = row.whole(columns, column)
        if whole is not None:
            scatters = tuple(columns.pop(each) for each in whole)
            group = InterleavedStores(scatters, operation, row.mask)
            result.update(dict.fromkeys(group.scatters, group))
    return result


def _are_apart(one: _Row, other: _Row) -> bool:
    """Whether two rows have a subscript that is never the same."""
    differences = (a - b for a, b in zip(one.place, other.place, strict=True))
    return any(each.is_constant and each.constant for each in differences)


def _row(operation: Operation, numbering: Numbering) -> tuple[_Row, int] | None:
    """Row and first column of a gather or scatter with a small positive stride."""
    if not isinstance(operation, GatherOp | ScatterOp):
        return None
    stride = stride_of(constant_lanes(operation.index_vec))
    if stride is None or stride < 2:
        return None
    place, column = column_of(operation, numbering)
    mask = varying_mask(operation.mask)
    return _Row(place, operation.operands[-1].type, stride, mask), column
