"""Bounds-check elimination: gathers whose subscripts are computed to lie inside of their array.

T[max(0, min(x, 255))]  of 256 elements needs no comparison, whatever x is
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, memref
from xdsl.ir import SSAValue

from ...dialects.arith import IndexCastUIOp
from .integer_ranges import Range, Ranges, integer_ranges
from .scop import Statement


def bounded_gathers(
    statement: Statement, shape: Callable[[SSAValue], Sequence[int | None]]
) -> frozenset[memref.LoadOp]:
    """The gathers of a statement whose subscripts from data are all inside of these extents.

    `shape` gives an array's extents, None where they are not known. Affine subscripts are not
    looked at: gathers that have some beside others are left out.
    """
    gathers = [each for each in statement.body if isinstance(each, memref.LoadOp)]
    if not gathers:
        return frozenset()
    known = integer_ranges(statement.body)
    return frozenset(each for each in gathers if _is_inside(each, shape(each.memref), known))


def _is_inside(gather: memref.LoadOp, extents: Sequence[int | None], known: Ranges) -> bool:
    return len(extents) == len(gather.indices) and all(
        extent is not None
        and (values := _values(index, known)) is not None
        and Range(0, extent - 1).contains(values)
        for index, extent in zip(gather.indices, extents, strict=True)
    )


def _values(index: SSAValue, known: Ranges) -> Range | None:
    """The range of a subscript; None where nothing is known of it."""
    owner = index.owner
    if isinstance(owner, arith.IndexCastOp):
        return known.get(owner.input)
    if isinstance(owner, IndexCastUIOp):
        values = known.get(owner.input)
        return values if values is not None and values.low >= 0 else None
    return None
