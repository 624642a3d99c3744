"""Scatters of neighbouring columns that together write rows, as pixels of several channels.

    scatter A[2 i] ..., a
    scatter A[2 i + 1] ..., b      ->      store A[2 i ...], interleave a, b

    scatter A[2 i] ..., a          ->      masked store A[2 i ...], interleave a, (1 0 1 0 ...)

All are stored where the last one stands; nothing in between may touch the memref. What is between
the columns is left as it is: a mask switches it off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.memref import behind_casts
from ...dialects.vector import GatherOp, ScatterOp, is_vector
from ...passes.estimate.program_statistics import bytes_of
from ..loops.alias_analysis import Numbering, touched_memrefs
from .interleaved_rows import InterleavedRow, interleaved_row


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


_Columns = dict[int, ScatterOp]
"""Scatters that wait for others, in program order."""


def interleaved_stores(block: Block, *, noalias: bool) -> Mapping[Operation, InterleavedStores]:
    """The scatters of a block that are stored together, each with its group.

    `noalias` says that no two memrefs share memory.
    """
    result: dict[Operation, InterleavedStores] = {}
    numbering = Numbering()
    waiting: dict[SSAValue, dict[InterleavedRow, _Columns]] = {}

    def note(row: InterleavedRow, columns: _Columns) -> None:
        *_, last = columns.values()
        places = sorted(columns)
        scatters = tuple(columns[column] for column in places)
        numbers = tuple(column - places[0] for column in places)
        group = InterleavedStores(scatters, numbers, row.stride, last, row.mask)
        result.update(dict.fromkeys(columns.values(), group))

    def end(row: InterleavedRow, columns: _Columns) -> None:
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
        in_lanes = isinstance(operation, GatherOp | ScatterOp)
        found = interleaved_row(operation, numbering) if in_lanes else None
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


def _are_apart(one: InterleavedRow, other: InterleavedRow) -> bool:
    """Whether two rows have a subscript that is never the same."""
    if one.memref is not other.memref:
        return False
    differences = (a - b for a, b in zip(one.place, other.place, strict=True))
    return any(each.is_constant and each.constant for each in differences)
