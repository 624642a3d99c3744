"""Columns of rows under a mask: whole rows are accessed, with the mask of a row for each element.

    masked gather A[2 i] ..., m         ->  masked load A[2 i ...], (m0 0 m1 0 ...), shuffle

    masked scatter A[2 i] ..., a, m     ->  interleave a, b
    masked scatter A[2 i + 1] ..., b, m     masked store A[2 i ...], (m0 m0 m1 m1 ...)

The first and last vectors of a loop are such, and short integers have no gathers or scatters, so
that LLVM would test the lanes one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence

from llvmlite import ir

from .emitter import FunctionEmitter, constant
from .memory import from_storage, to_storage
from .strided_accesses import interleaved_vectors, select_lanes, shuffled
from .types import I1, I32, POINTER, VOID, scalar_type, storage_type


def load_masked_columns(
    emitter: FunctionEmitter,
    pointer: ir.Value,
    kind: ir.VectorType,
    stride: int,
    columns: Sequence[int],
    alignment: int,
    mask: ir.Value,
) -> list[ir.Value]:
    """Vectors as of `load_columns`, in lanes that are on; the others are 0, and not touched."""
    width = kind.count
    stored = storage_type(kind)
    pieces: list[ir.Value] = []
    for first in range(0, stride * width, width):
        active = _of_elements(emitter, mask, stride, columns, first, width)
        arguments = [
            _behind(emitter, pointer, first, kind),
            ir.Constant(I32, alignment),
            active,
            ir.Constant(stored, None),
        ]
        loaded = emitter.call_intrinsic("llvm.masked.load", arguments, stored, [stored, POINTER])
        pieces.append(from_storage(emitter, loaded, kind))
    return [
        select_lanes(emitter, pieces, [divmod(stride * k + column, width) for k in range(width)])
        for column in columns
    ]


def store_masked_rows(
    emitter: FunctionEmitter,
    pointer: ir.Value,
    values: Sequence[ir.Value],
    columns: Collection[int],
    alignment: int,
    mask: ir.Value | None,
) -> None:
    """Stores as `store_interleaved`, of lanes that are on, and of these columns alone.

    The last vector ends with the last column: a load of the elements behind it, as of the next
    iteration, would wait for a store that it seems to overlap.
    """
    stride = len(values)
    behind = stride - 1 - max(columns)
    kind = values[0].type
    assert isinstance(kind, ir.VectorType)
    if mask is None:
        mask = ir.Constant(ir.VectorType(I1, kind.count), [ir.Constant(I1, 1)] * kind.count)
    for first, vector in interleaved_vectors(emitter, values):
        stored = to_storage(emitter, vector)
        assert isinstance(stored.type, ir.VectorType)
        count = stored.type.count
        early = behind if first + count == stride * kind.count else 0
        if early:
            stored = shuffled(emitter, stored, stored, [max(k - early, 0) for k in range(count)])
        active = _of_elements(emitter, mask, stride, columns, first - early, count, early)
        place = _behind(emitter, pointer, first - early, kind)
        emitter.call_intrinsic(
            "llvm.masked.store",
            [stored, place, ir.Constant(I32, alignment), active],
            VOID,
            [stored.type, POINTER],
        )


def _of_elements(
    emitter: FunctionEmitter,
    mask: ir.Value,
    stride: int,
    columns: Container[int],
    first: int,
    count: int,
    without: int = 0,
) -> ir.Value:
    """The mask of `count` elements from `first` on, of rows of which the mask has one lane each.

    Without so many elements at the beginning.
    """
    elements = range(first, first + count)
    rows = [ir.Constant(I32, element // stride) for element in elements]
    lanes = ir.Constant(ir.VectorType(I32, count), rows)
    spread = emitter.builder.shuffle_vector(mask, mask, lanes)
    wanted = [element % stride in columns and element >= first + without for element in elements]
    if all(wanted):
        return spread
    chosen = ir.Constant(spread.type, [ir.Constant(I1, int(each)) for each in wanted])
    return emitter.builder.and_(spread, chosen)


def _behind(emitter: FunctionEmitter, pointer: ir.Value, elements: int, kind: ir.Type) -> ir.Value:
    """The address of an element that need not exist: its lane may be off."""
    source = storage_type(scalar_type(kind))
    return emitter.builder.gep(pointer, [constant(elements)], source_etype=source)
