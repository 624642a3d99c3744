"""Vectors of elements a small stride apart: neighbouring elements are accessed and shuffled.

    gather A[2 i], A[2 i + 2] ...     ->    load A[2 i ...], load A[2 i + w - 1 ...], shuffle
    scatter A[2 i] ..., a                   store A[2 i ...], interleave a, b
    scatter A[2 i + 1] ..., b         ->    store A[2 i + w ...], interleave a, b

A load touches nothing outside of what the first and last lane span. Stores are joined only where
together they write every element (`interleaved_stores`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from llvmlite import ir

from .emitter import FunctionEmitter, constant
from .memory import load, store
from .types import I32, scalar_type
from .values import integer


def load_columns(
    emitter: FunctionEmitter,
    pointer: ir.Value,
    kind: ir.VectorType,
    stride: int,
    columns: Sequence[int],
    alignment: int,
) -> list[ir.Value]:
    """For each column a vector whose lane k is `stride * k + column` elements behind the pointer.

    The first column is 0, all are below the stride. Of short integers, a row is one long integer,
    of which LLVM extends or truncates a part without moving lanes.
    """
    element = scalar_type(kind)
    bits = element.width if isinstance(element, ir.IntType) else None
    extent = columns[-1] + 1
    if bits in _SHORT and stride in _POWERS:
        return _parts_of_rows(emitter, pointer, kind, stride, columns, alignment)
    if bits == _BYTE and extent == stride:
        whole = ir.VectorType(element, kind.count * stride)
        rows = load(emitter, pointer, whole, alignment)
        places = ([stride * lane + column for lane in range(kind.count)] for column in columns)
        return [_shuffled(emitter, rows, rows, lanes) for lanes in places]
    if extent == stride == _TWICE_TWO:
        steps = range(0, stride * kind.count, kind.count)
        rows = [load(emitter, _behind(emitter, pointer, k, kind), kind, alignment) for k in steps]
        low, high = _halved(emitter, *rows[:2]), _halved(emitter, *rows[2:])
        (first, third), (second, fourth) = (
            _halved(emitter, *pair) for pair in zip(low, high, strict=True)
        )
        parts = first, second, third, fourth
        return [parts[column] for column in columns]
    reach = stride * (kind.count - 1) + extent
    starts = [min(start, reach - kind.count) for start in range(0, reach, kind.count)]
    return _selected(emitter, pointer, kind, starts, stride, columns, alignment)


def _halved(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The even and the odd elements of two vectors."""
    count = _lanes(left)
    even, odd = (list(range(first, 2 * count, 2)) for first in (0, 1))
    return _shuffled(emitter, left, right, even), _shuffled(emitter, left, right, odd)


def _zipped(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The elements of two vectors in turns, as two vectors."""
    count = _lanes(left)
    both = [lane for k in range(count) for lane in (k, count + k)]
    low, high = both[:count], both[count:]
    return _shuffled(emitter, left, right, low), _shuffled(emitter, left, right, high)


def _lanes(value: ir.Value) -> int:
    assert isinstance(value.type, ir.VectorType)
    return value.type.count


_TWICE_TWO = 4
_BYTE = 8
_SHORT = (8, 16)
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
        results.append(low if len(parts) == 1 else _shuffled(emitter, low, high, lanes))
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
        results.append(_select(emitter, pieces, lanes))
    return results


def store_interleaved(
    emitter: FunctionEmitter, pointer: ir.Value, values: Sequence[ir.Value], alignment: int
) -> None:
    """Stores lane k of value number n `len(values) * k + n` elements behind the pointer."""
    kind = values[0].type
    assert isinstance(kind, ir.VectorType)
    count, width = len(values), kind.count
    if count == _TWICE_TWO:
        pairs = _zipped(emitter, *values[::2]), _zipped(emitter, *values[1::2])
        halves = (_zipped(emitter, *pair) for pair in zip(*pairs, strict=True))
        for piece, value in enumerate(chain.from_iterable(halves)):
            store(emitter, value, _behind(emitter, pointer, piece * width, kind), alignment)
        return
    element = scalar_type(kind)
    if isinstance(element, ir.IntType) and element.width == _BYTE and count != 2:
        # LLVM has an order of shuffles of its own for three columns of bytes.
        order = [column * width + lane for lane in range(width) for column in range(count)]
        low = _shuffled(emitter, values[0], values[1], list(range(2 * width)))
        high = _shuffled(emitter, values[2], values[2], list(range(2 * width)))
        store(emitter, _shuffled(emitter, low, high, order), pointer, alignment)
        return
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
        lanes_of_both = [where.get(k, k) for k in range(width)]
        result = _shuffled(emitter, result, other, lanes_of_both)
        where = {k: k for k in where}
    return result


def _shuffled(
    emitter: FunctionEmitter, left: ir.Value, right: ir.Value, lanes: Sequence[int]
) -> ir.Value:
    mask = ir.Constant(ir.VectorType(I32, len(lanes)), [ir.Constant(I32, lane) for lane in lanes])
    return emitter.builder.shuffle_vector(left, right, mask)
