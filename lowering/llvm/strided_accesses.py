"""Vectors of elements a small stride apart: neighbouring elements are accessed and shuffled.

    gather A[2 i], A[2 i + 2] ...     ->    load A[2 i ...], load A[2 i + w - 1 ...], shuffle
    scatter A[2 i] ..., a                   store A[2 i ...], interleave a, b
    scatter A[2 i + 1] ..., b         ->    store A[2 i + w ...], interleave a, b

A load touches nothing outside of what the first and last lane span. Stores are joined only where
together they write every element (`interleaved_stores`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from llvmlite import ir

from ..memory.interleaved_loads import InterleavedLoads
from .emitter import FunctionEmitter, constant
from .interleaving import Chunks
from .memory import load, store
from .transposition import CHUNK_BYTES
from .types import scalar_type, size_in_bytes
from .values import integer, shuffle_mask


def load_columns(
    emitter: FunctionEmitter,
    pointer: ir.Value,
    kind: ir.VectorType,
    group: InterleavedLoads,
    alignment: int,
) -> list[ir.Value]:
    """For each column a vector whose lane k is `stride * k + column` elements behind the pointer.

    Of short integers, a row is one long integer, of which LLVM extends or truncates a part without
    moving lanes, where the processor does not move them as easily or they are to be extended.
    """
    stride, columns = group.stride, group.columns
    element = scalar_type(kind)
    size = size_in_bytes(element)
    is_short = isinstance(element, ir.IntType) and size in _SHORT
    extent = columns[-1] + 1
    is_moved = emitter.module.target.permutes_lanes(size) and not group.are_extended
    if is_short and stride in _POWERS and not is_moved:
        return _parts_of_rows(emitter, pointer, kind, stride, columns, alignment)
    reach = stride * (kind.count - 1) + extent
    chunks = _chunks(emitter, kind, stride)
    if chunks is not None:
        register = ir.VectorType(element, chunks.lanes)
        parts: list[list[ir.Value]] = []
        for first in range(0, kind.count * stride, chunks.lanes * stride):
            starts = range(first, first + chunks.lanes * stride, chunks.lanes)
            rows = [_load_within(emitter, pointer, register, k, reach, alignment) for k in starts]
            found = chunks.separate(rows, columns)
            parts.append([found[column] for column in columns])
        return [concatenated(emitter, column) for column in zip(*parts, strict=True)]
    starts = [min(start, reach - kind.count) for start in range(0, reach, kind.count)]
    return _selected(emitter, pointer, kind, starts, stride, columns, alignment)


def _chunks(emitter: FunctionEmitter, kind: ir.VectorType, stride: int) -> Chunks[ir.Value] | None:
    """The registers that a vector is cut into to be interleaved; None where it is not.

    Where elements are moved anywhere in a register in one operation, it is not cut further.
    """
    target = emitter.module.target
    size = size_in_bytes(scalar_type(kind))
    count = min(kind.count, target.vector_bits // (8 * size))
    chunk = count if target.permutes_lanes(size) else CHUNK_BYTES // size
    if stride == 2 or kind.count % count or (kind.count // count).bit_count() != 1:
        return None
    if chunk < 2 or count % chunk or count.bit_count() != 1:
        return None
    return Chunks(count // chunk, chunk, partial(shuffled, emitter))


def _load_within(
    emitter: FunctionEmitter,
    pointer: ir.Value,
    kind: ir.VectorType,
    start: int,
    reach: int,
    alignment: int,
) -> ir.Value:
    """A vector from an element on, of which nothing behind `reach` elements is touched."""
    if start >= reach:
        return ir.Constant(kind, ir.Undefined)
    earlier = max(0, start + kind.count - reach)
    vector = load(emitter, _behind(emitter, pointer, start - earlier, kind), kind, alignment)
    lanes = [min(lane + earlier, kind.count - 1) for lane in range(kind.count)]
    return shuffled(emitter, vector, vector, lanes) if earlier else vector


def concatenated(emitter: FunctionEmitter, vectors: Sequence[ir.Value]) -> ir.Value:
    """One vector of the lanes of several, which are a power of two."""
    while len(vectors) > 1:
        lanes = list(range(2 * _lanes(vectors[0])))
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors = [shuffled(emitter, low, high, lanes) for low, high in pairs]
    return vectors[0]


def _lanes(value: ir.Value) -> int:
    assert isinstance(value.type, ir.VectorType)
    return value.type.count


_SHORT = (1, 2)
"""Bytes of short integers."""

_POWERS = (2, 4)


def _parts_of_rows(
    emitter: FunctionEmitter,
    pointer: ir.Value,
    kind: ir.VectorType,
    stride: int,
    columns: Sequence[int],
    alignment: int,
) -> list[ir.Value]:
    """Columns of short integers: parts of the long integers that the rows are.

    Where the last columns are not asked for, the second half of the rows is loaded with what is in
    front of it instead, so that nothing behind the last element is touched.
    """
    builder = emitter.builder
    element = scalar_type(kind)
    assert isinstance(element, ir.IntType)
    missing = stride - 1 - columns[-1]
    # The halves of an odd number of lanes have one in common.
    half = -(-kind.count // 2)
    overlap = 2 * half - kind.count
    pieces = [(0, half, 0), (kind.count - half, kind.count, missing)]
    pieces = pieces if missing else [(0, kind.count, 0)]
    lanes = [*range(half), *range(half + overlap, 2 * half)]
    views: list[tuple[ir.Value, int]] = []
    for begin, end, shift in pieces:
        place = _behind(emitter, pointer, begin * stride - shift, kind)
        elements = ir.VectorType(element, (end - begin) * stride)
        rows = ir.VectorType(ir.IntType(element.width * stride), end - begin)
        views.append((builder.bitcast(load(emitter, place, elements, alignment), rows), shift))
    results: list[ir.Value] = []
    for column in columns:
        parts = [
            builder.trunc(
                builder.lshr(view, integer(view.type, (column + shift) * element.width)),
                ir.VectorType(element, _lanes(view)),
            )
            for view, shift in views
        ]
        low, high = parts[0], parts[-1]
        results.append(low if len(parts) == 1 else shuffled(emitter, low, high, lanes))
    return results


def load_strided(
    emitter: FunctionEmitter, pointer: ir.Value, kind: ir.VectorType, stride: int, alignment: int
) -> ir.Value:
    """The vector whose lane k is `stride * k` elements behind the pointer, for negative strides."""
    reach = abs(stride) * (kind.count - 1)
    starts = [min(k * kind.count, reach + 1 - kind.count) - reach for k in range(abs(stride))]
    (result,) = _selected(emitter, pointer, kind, starts, stride, [0], alignment)
    return result


def _selected(
    emitter: FunctionEmitter,
    pointer: ir.Value,
    kind: ir.VectorType,
    starts: Sequence[int],
    stride: int,
    columns: Sequence[int],
    alignment: int,
) -> list[ir.Value]:
    """Columns as lanes selected from the vectors that start at these elements."""
    width = kind.count
    pieces = [
        load(emitter, _behind(emitter, pointer, start, kind), kind, alignment) for start in starts
    ]
    results: list[ir.Value] = []
    for column in columns:
        places = [stride * lane + column for lane in range(width)]
        sources = [next(k for k, s in enumerate(starts) if s <= p < s + width) for p in places]
        lanes = [(k, p - starts[k]) for k, p in zip(sources, places, strict=True)]
        results.append(select_lanes(emitter, pieces, lanes))
    return results


def store_interleaved(
    emitter: FunctionEmitter, pointer: ir.Value, values: Sequence[ir.Value], alignment: int
) -> None:
    """Stores lane k of value number n `len(values) * k + n` elements behind the pointer."""
    kind = values[0].type
    assert isinstance(kind, ir.VectorType)
    for first, vector in interleaved_vectors(emitter, values):
        store(emitter, vector, _behind(emitter, pointer, first, kind), alignment)


def interleaved_vectors(
    emitter: FunctionEmitter, values: Sequence[ir.Value]
) -> Iterator[tuple[int, ir.Value]]:
    """The rows whose columns are given, in vectors, each with the number of its first element."""
    kind = values[0].type
    assert isinstance(kind, ir.VectorType)
    count, width = len(values), kind.count
    chunks = _chunks(emitter, kind, count)
    if chunks is not None:
        for first in range(0, width, chunks.lanes):
            lanes = list(range(first, first + chunks.lanes))
            parts = [shuffled(emitter, value, value, lanes) for value in values]
            for number, vector in enumerate(chunks.interleave(parts)):
                yield first * count + number * chunks.lanes, vector
        return
    for first in range(0, count * width, width):
        lanes = [(element % count, element // count) for element in range(first, first + width)]
        yield first, select_lanes(emitter, values, lanes)


def _behind(
    emitter: FunctionEmitter, pointer: ir.Value, elements: int, kind: ir.VectorType
) -> ir.Value:
    offset = [constant(elements)]
    return emitter.builder.gep(pointer, offset, source_etype=scalar_type(kind))


def select_lanes(
    emitter: FunctionEmitter, vectors: Sequence[ir.Value], lanes: Sequence[tuple[int, int]]
) -> ir.Value:
    """A vector of which each lane is one of the lanes of several vectors: (vector, lane)."""
    width = len(lanes)
    result, *others = vectors
    where = {k: lane for k, (vector, lane) in enumerate(lanes) if vector == 0}
    for number, other in enumerate(others or [result], 1):
        where |= {k: width + lane for k, (vector, lane) in enumerate(lanes) if vector == number}
        lanes_of_both = [where.get(k, k) for k in range(width)]
        result = shuffled(emitter, result, other, lanes_of_both)
        where = {k: k for k in where}
    return result


def shuffled(
    emitter: FunctionEmitter, left: ir.Value, right: ir.Value, lanes: Sequence[int]
) -> ir.Value:
    """A vector of lanes of two, counted through both."""
    return emitter.builder.shuffle_vector(left, right, shuffle_mask(tuple(lanes)))
