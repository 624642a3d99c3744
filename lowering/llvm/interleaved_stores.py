"""Scatters of neighbouring columns that together write whole rows, as pixels of several channels.

    scatter A[2 i] ..., a
    scatter A[2 i + 1] ..., b      ->      store A[2 i ...], interleave a, b

All are stored where the last one stands; nothing in between may touch the memref.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.vector import GatherOp, ScatterOp
from ..loops.alias_analysis import Numbering, touched_memrefs
from ..nest.index_expression import Index
from .known_lanes import lanes_of, stride_of


@dataclass(frozen=True)
class InterleavedStores:
    """Scatters of the columns `first`, `first + 1` ... of the same rows, as many as the stride."""

    scatters: tuple[ScatterOp, ...]
    last: ScatterOp


_Row = tuple[tuple[Index, ...], Index, Attribute, int]
"""Of a scatter: the outer subscripts, the last one without its constant, type and stride."""

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
        if isinstance(operation, GatherOp):
            if any((column - each) % row[3] == 0 for each in rows.get(row, ())):
                del rows[row]
            continue
        assert isinstance(operation, ScatterOp)
        columns = rows.pop(row, {})
        if column in columns or any(abs(column - each) >= row[3] for each in columns):
            columns = {}
        columns[column] = operation
        if len(columns) < row[3]:
            rows[row] = columns
            continue
        group = InterleavedStores(tuple(columns[each] for each in sorted(columns)), operation)
        result.update(dict.fromkeys(group.scatters, group))
    return result


def _are_apart(one: _Row, other: _Row) -> bool:
    """Whether two rows have an outer subscript that is never the same."""
    differences = (a - b for a, b in zip(one[0], other[0], strict=True))
    return any(each.is_constant and each.constant for each in differences)


def _row(operation: Operation, numbering: Numbering) -> tuple[_Row, int] | None:
    """Row and first column of a gather or scatter with a small positive stride, all lanes on."""
    if not isinstance(operation, GatherOp | ScatterOp):
        return None
    stride = stride_of(constant_lanes(operation.index_vec))
    active = lanes_of(operation.mask)
    if stride is None or stride < 2 or active is None or not all(active):
        return None
    *outer, last = (numbering.index(value) for value in operation.indices)
    kind = operation.operands[-1].type
    return (tuple(outer), last - last.constant, kind, stride), last.constant
