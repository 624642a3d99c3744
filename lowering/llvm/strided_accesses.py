"""Vectors of elements a small stride apart: neighbouring elements are accessed and shuffled.

    gather A[2 i], A[2 i + 2] ...     ->    load A[2 i ...], load A[2 i + w - 1 ...], shuffle
    scatter A[2 i] ..., a                   store A[2 i ...], interleave a, b
    scatter A[2 i + 1] ..., b         ->    store A[2 i + w ...], interleave a, b

A load touches nothing outside of what the first and last lane span. Stores are joined only where
together they write every element (`interleaved_stores`).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from .emitter import FunctionEmitter, constant
from .memory import load, store
from .types import I32, scalar_type


def load_strided(
    emitter: FunctionEmitter, pointer: ir.Value, kind: ir.VectorType, stride: int, alignment: int
) -> ir.Value:
    """The vector whose lane k is `stride * k` elements behind the pointer."""
    width = kind.count
    reach = abs(stride) * (width - 1)
    first = min(0, stride * (width - 1))
    starts = [min(k * width, reach + 1 - width) for k in range(abs(stride))]
    places = [stride * lane - first for lane in range(width)]
    pieces = [
        load(emitter, _behind(emitter, pointer, first + start, kind), kind, alignment)
        for start in starts
    ]
    sources = [next(k for k, s in enumerate(starts) if s <= p < s + width) for p in places]
    lanes = [(k, p - starts[k]) for k, p in zip(sources, places, strict=True)]
    return _select(emitter, pieces, lanes)


def store_interleaved(
    emitter: FunctionEmitter, pointer: ir.Value, values: Sequence[ir.Value], alignment: int
) -> None:
    """Stores lane k of value number n `len(values) * k + n` elements behind the pointer."""
    kind = values[0].type
    assert isinstance(kind, ir.VectorType)
    count, width = len(values), kind.count
    for piece in range(count):
        elements = range(piece * width, (piece + 1) * width)
        lanes = [(element % count, element // count) for element in elements]
        place = _behind(emitter, pointer, piece * width, kind)
        store(emitter, _select(emitter, values, lanes), place, alignment)


def _behind(
    emitter: FunctionEmitter, pointer: ir.Value, elements: int, kind: ir.VectorType
) -> ir.Value:
    offset = [constant(elements)]
    return emitter.builder.gep(pointer, offset, source_etype=scalar_type(kind))


def _select(
    emitter: FunctionEmitter, vectors: Sequence[ir.Value], lanes: Sequence[tuple[int, int]]
) -> ir.Value:
    """A vector of which each lane is one of the lanes of several vectors: (vector, lane)."""
    width = len(lanes)
    result, *others = vectors
    where = {k: lane for k, (vector, lane) in enumerate(lanes) if vector == 0}
    for number, other in enumerate(others or [result], 1):
        where |= {k: width + lane for k, (vector, lane) in enumerate(lanes) if vector == number}
        mask = [ir.Constant(I32, where.get(k, k)) for k in range(width)]
        result = emitter.builder.shuffle_vector(
            result, other, ir.Constant(ir.VectorType(I32, width), mask)
        )
        where = {k: k for k in where}
    return result
