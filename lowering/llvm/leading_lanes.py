"""Vectors of which a known number of leading lanes are in memory, without masks.

    load of 30 bytes     ->    load 16 bytes at 0, load 16 bytes at 14, shuffle
    store of 30 bytes    ->    store lanes 0 to 15 at 0, store lanes 14 to 29 at 14

Two overlapping vectors, each a power of two long, cover any number of lanes. Instruction sets
without masks for an element's width would access lane by lane.

Private elements are one vector of as many lanes: LLVM hands on what is stored to loads of the same
type, and where it cannot, processors do, as both have the same pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from .emitter import FunctionEmitter, constant
from .memory import load, store
from .types import I1
from .values import shuffle_mask


def leading_lanes(active: Sequence[bool] | None) -> int | None:
    """How many lanes are on if these are the first ones and known, and neither all nor none."""
    if active is None:
        return None
    count = sum(active)
    return count if 0 < count < len(active) and all(active[:count]) else None


def load_leading(
    emitter: FunctionEmitter,
    pointer: ir.Value,
    default: ir.Value,
    count: int,
    alignment: int,
    *,
    at_once: bool = False,
) -> ir.Value:
    """The first `count` elements from a pointer on; lanes behind them are those of `default`."""
    kind = default.type
    assert isinstance(kind, ir.VectorType)
    width = count if at_once else _piece(count)
    part = ir.VectorType(kind.element, width)
    low = load(emitter, pointer, part, alignment)
    high = low if width == count else load(emitter, _behind(emitter, pointer, count, part), part)
    lanes = [lane if lane < width else lane - count + 2 * width for lane in range(count)]
    lanes += [0] * (kind.count - count)
    loaded = emitter.builder.shuffle_vector(low, high, shuffle_mask(tuple(lanes)))
    mask = [ir.Constant(I1, int(lane < count)) for lane in range(kind.count)]
    return emitter.builder.select(ir.Constant(ir.VectorType(I1, kind.count), mask), loaded, default)


def store_leading(
    emitter: FunctionEmitter,
    value: ir.Value,
    pointer: ir.Value,
    count: int,
    alignment: int,
    *,
    at_once: bool = False,
) -> None:
    """Stores the first `count` lanes of a vector."""
    kind = value.type
    assert isinstance(kind, ir.VectorType)
    width = count if at_once else _piece(count)
    low = emitter.builder.shuffle_vector(value, value, shuffle_mask(tuple(range(width))))
    store(emitter, low, pointer, alignment)
    if width < count:
        last = shuffle_mask(tuple(range(count - width, count)))
        high = emitter.builder.shuffle_vector(value, value, last)
        store(emitter, high, _behind(emitter, pointer, count, high.type))


def _piece(count: int) -> int:
    """The largest power of two that is not above the count."""
    return 1 << (count.bit_length() - 1)


def _behind(emitter: FunctionEmitter, pointer: ir.Value, count: int, part: ir.Type) -> ir.Value:
    """Where the vector begins that ends after `count` elements."""
    assert isinstance(part, ir.VectorType)
    offset = [constant(count - part.count)]
    return emitter.builder.gep(pointer, offset, source_etype=part.element)
