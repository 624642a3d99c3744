"""Constants, splats, and known elements of vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import cast

from llvmlite import ir

from .emitter import FunctionEmitter
from .types import I32


def integer(kind: ir.Type, value: int) -> ir.Constant:
    """An integer constant, or a vector of equal ones, with `value` taken modulo 2^width."""
    scalar = kind.element if isinstance(kind, ir.VectorType) else kind
    assert isinstance(scalar, ir.IntType)
    half = 1 << (scalar.width - 1)
    wrapped = (value + half) % (2 * half) - half if scalar.width > 1 else value & 1
    return ir.Constant(kind, wrapped)


def known_elements(value: ir.Value) -> list[int] | None:
    """The elements of an integer constant (one for a scalar); None for anything else."""
    if not isinstance(value, ir.Constant):
        return None
    if isinstance(value.constant, int):
        return [value.constant]
    if not isinstance(value.type, ir.VectorType):
        return None
    elements = cast(Sequence[ir.Constant], value.constant)
    integers = [element.constant for element in elements]
    return [element for element in integers if isinstance(element, int)] or None


@lru_cache(maxsize=4096)
def shuffle_mask(lanes: tuple[int, ...]) -> ir.Constant:
    """The mask of a shuffle that takes these lanes of two vectors."""
    return ir.Constant(ir.VectorType(I32, len(lanes)), [ir.Constant(I32, lane) for lane in lanes])


def splat(emitter: FunctionEmitter, value: ir.Value, count: int) -> ir.Value:
    """A vector of `count` elements that are all `value`."""
    kind = ir.VectorType(value.type, count)
    if isinstance(value, ir.Constant):
        return ir.Constant(kind, [value] * count)
    undefined = ir.Constant(kind, ir.Undefined)
    single = emitter.builder.insert_element(undefined, value, ir.Constant(I32, 0))
    return emitter.builder.shuffle_vector(
        single, undefined, ir.Constant(ir.VectorType(I32, count), 0)
    )


def per_lane(
    emitter: FunctionEmitter,
    operands: Sequence[ir.Value],
    result: ir.Type,
    emit: Callable[[Sequence[ir.Value]], ir.Value],
) -> ir.Value:
    """Applies a scalar operation to scalars, or to each lane of vectors."""
    if not isinstance(result, ir.VectorType):
        return emit(operands)
    vector: ir.Value = ir.Constant(result, ir.Undefined)
    for lane in range(result.count):
        position = ir.Constant(I32, lane)
        elements = [emitter.builder.extract_element(operand, position) for operand in operands]
        vector = emitter.builder.insert_element(vector, emit(elements), position)
    return vector
