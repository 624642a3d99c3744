"""Scatters of neighbouring columns that together write rows, as pixels of several channels.

    scatter A[2 i] ..., a
    scatter A[2 i + 1] ..., b      ->      store A[2 i ...], interleave a, b

    scatter A[2 i] ..., a          ->      masked store A[2 i ...], interleave a, (1 0 1 0 ...)

All are stored where the last one stands; nothing in between may touch the memref. What is between
the columns is left as it is: a mask switches it off.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.memref import behind_casts
from ...dialects.vector import GatherOp, ScatterOp, is_vector
from ...passes.estimate.program_statistics import bytes_of
from ...passes.estimate.strided_accesses import masks_columns
from ..loops.alias_analysis import Numbering, touched_memrefs
from ..nest.index_expression import Index
from .known_lanes import column_of, stride_of, varying_mask


@dataclass(frozen=True)
class InterleavedStores:
    """Scatters of `columns` of the same rows of `stride` elements, counted from the first one.

    `mask` is the mask that they share, None with all lanes on.
    """

    scatters: tuple[ScatterOp, ...]
    columns: tuple[int, ...]
    stride: int
    last: ScatterOp
    mask: SSAValue | None

    @property
    def element_bytes(self) -> int:
        """Bytes of an element in memory."""
        kind = self.last.value_to_store.type
        assert is_vector(kind)
        return bytes_of(kind.element_type)

    @property
    def is_whole(self) -> bool:
        """Whether every element of a row is written."""
        return len(self.scatters) == self.stride

    @property
    def needs_mask(self) -> bool:
        """Whether some elements of a vector are not written."""
        return self.mask is not None or not self.is_whole


@dataclass(frozen=True)
class _Row:
    """Where scatters of a memref begin but for a constant, their type, stride and mask."""

    memref: SSAValue
    place: tuple[Index, ...]
    kind: Attribute
    stride: int
    mask: SSAValue | None

    def meet(self, one: int, other: int) -> bool:
        """Whether vectors from two columns on have elements in common."""
        assert is_vector(self.kind)
        apart = abs(one - other)
        return apart % self.stride == 0 and apart < self.stride * self.kind.get_shape()[0]

    def are_worth_a_mask(self, columns: int) -> bool:
        """Whether rows are written under a mask: half of them, or what there are no scatters of."""
        assert is_vector(self.kind)
        return masks_columns(columns, self.stride, bytes_of(self.kind.element_type))

    def whole(self, columns: Container[int], column: int) -> range | None:
        """The columns of a row with this one, where all are among some columns; else None."""
        firsts = range(column - self.stride + 1, column + 1)
        rows = (range(first, first + self.stride) for first in firsts)
        return next((row for row in rows if all(each in columns for each in row)), None)


_Columns = dict[int, ScatterOp]
"""Scatters that wait for others, in program order."""


def interleaved_stores(block: Block, *, noalias: bool) -> Mapping[Operation, InterleavedStores]:
    """The scatters of a block that are stored together, each with its group.

    `noalias` says that no two memrefs share memory.
    """
    result: dict[Operation, InterleavedStores] = {}
    numbering = Numbering()
    waiting: dict[SSAValue, dict[_Row, _Columns]] = {}

    def note(row: _Row, columns: _Columns) -> None:
        *_, last = columns.values()
        places = sorted(columns)
        scatters = tuple(columns[column] for column in places)
        numbers = tuple(column - places[0] for column in places)
        group = InterleavedStores(scatters, numbers, row.stride, last, row.mask)
        result.update(dict.fromkeys(columns.values(), group))

    def end(row: _Row, columns: _Columns) -> None:
        """No other scatter joins these."""
        while columns:
            first = min(columns)
            part = {k: each for k, each in columns.items() if k < first + row.stride}
            for column in part:
                del columns[column]
            if row.are_worth_a_mask(len(part)):
                note(row, part)

    def end_all(memref: SSAValue) -> None:
        for row, columns in waiting.pop(memref, {}).items():
            end(row, columns)

    for operation in block.ops:
        touched = [*dict.fromkeys(map(behind_casts, touched_memrefs(operation)))]
        if operation.regions or (touched and not noalias):
            for memref in [each for each in waiting if [each] != touched]:
                end_all(memref)
        found = _row(operation, numbering)
        if found is None:
            for memref in touched:
                end_all(memref)
            continue
        row, column = found
        rows = waiting.setdefault(touched[0], {})
        for other in [each for each in rows if each != row and not _are_apart(each, row)]:
            end(other, rows.pop(other))
        columns = rows.setdefault(row, {})
        if any(row.meet(each, column) for each in columns):
            end(row, columns)
        if isinstance(operation, GatherOp):
            continue
        assert isinstance(operation, ScatterOp)
        columns[column] = operation
        whole = row.whole(columns, column)
        if whole is not None:
            note(row, {k: columns.pop(k) for k in [k for k in columns if k in whole]})
    for memref in [*waiting]:
        end_all(memref)
    return result


def _are_apart(one: _Row, other: _Row) -> bool:
    """Whether two rows have a subscript that is never the same."""
    if one.memref is not other.memref:
        return False
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
    return _Row(operation.base, place, operation.operands[-1].type, stride, mask), column
