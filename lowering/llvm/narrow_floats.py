"""Conversions of f16 and bf16, which are 16-bit integers in registers and in memory.

f16 by the instructions of the target (F16C), else by arithmetic on bits; bf16, the upper half of
f32, always by the latter: the instructions of AVX-512 take small numbers for zero.
"""

from __future__ import annotations

from llvmlite import ir
from xdsl.dialects.builtin import Float16Type

from ...dialects.narrow_floats import NarrowFloat
from .emitter import FunctionEmitter
from .types import I16, I32
from .values import integer

_F32, _HALF = ir.FloatType(), ir.HalfType()

_INFINITY = 0x7F800000
_QUIET = 0x400000
_LOW_HALF = 0x7FFF


def extended(emitter: FunctionEmitter, value: ir.Value, kind: NarrowFloat) -> ir.Value:
    """The f32 of 16 bits."""
    builder = emitter.builder
    if isinstance(kind, Float16Type) and _has_half(emitter):
        return builder.fpext(builder.bitcast(value, _like(value, _HALF)), _like(value, _F32))
    bits = builder.zext(value, _like(value, I32))
    if not isinstance(kind, Float16Type):
        shifted = builder.shl(bits, integer(bits.type, 16))
        return builder.bitcast(shifted, _like(value, _F32))
    return _from_half(emitter, bits)


def rounded(emitter: FunctionEmitter, value: ir.Value, kind: NarrowFloat) -> ir.Value:
    """The 16 bits that are nearest to an f32 or f64, ties to even."""
    builder = emitter.builder
    if _scalar(value) == ir.DoubleType():
        value = _to_odd(emitter, value)
    if isinstance(kind, Float16Type) and _has_half(emitter):
        half = builder.fptrunc(value, _like(value, _HALF))
        return builder.bitcast(half, _like(value, I16))
    bits = builder.bitcast(value, _like(value, I32))
    is_nan = builder.fcmp_unordered("uno", value, value)
    if isinstance(kind, Float16Type):
        wide = _to_half(emitter, bits, is_nan)
    else:
        quiet = builder.or_(bits, integer(bits.type, _QUIET))
        wide = builder.select(is_nan, quiet, _round_to(emitter, bits, 16))
        wide = builder.lshr(wide, integer(bits.type, 16))
    return builder.trunc(wide, _like(value, I16))


def _round_to(emitter: FunctionEmitter, bits: ir.Value, position: int) -> ir.Value:
    """Rounds to nearest, ties to even; what is below the bit at `position` is left as it comes."""
    builder, kind = emitter.builder, bits.type
    odd = builder.and_(builder.lshr(bits, integer(kind, position)), integer(kind, 1))
    half = integer(kind, (1 << position - 1) - 1)
    return builder.add(builder.add(bits, half), odd)


def _to_odd(emitter: FunctionEmitter, value: ir.Value) -> ir.Value:
    """The f32 next to an f64, the odd one where it is between two: rounding it rounds once."""
    builder = emitter.builder
    near = builder.fptrunc(value, _like(value, _F32))
    back = builder.fpext(near, value.type)
    bits = builder.bitcast(near, _like(value, I32))
    one = integer(bits.type, 1)
    near_size, size = (
        emitter.call_intrinsic("llvm.fabs", [each], value.type) for each in (back, value)
    )
    is_below = builder.fcmp_ordered("<", near_size, size)
    other = builder.select(is_below, builder.add(bits, one), builder.sub(bits, one))
    is_even = builder.icmp_unsigned("==", builder.and_(bits, one), integer(bits.type, 0))
    moves = builder.and_(builder.fcmp_ordered("!=", back, value), is_even)
    return builder.bitcast(builder.select(moves, other, bits), near.type)


def _from_half(emitter: FunctionEmitter, bits: ir.Value) -> ir.Value:
    """f16 -> f32: the exponent moves by a product with 2^112, which is exact for small numbers."""
    builder, kind = emitter.builder, bits.type
    magnitude = builder.and_(bits, integer(kind, _LOW_HALF))
    sign = builder.shl(builder.xor(bits, magnitude), integer(kind, 16))
    moved = builder.bitcast(builder.shl(magnitude, integer(kind, 13)), _like(bits, _F32))
    scaled = builder.bitcast(builder.fmul(moved, ir.Constant(moved.type, 2.0**112)), kind)
    is_special = builder.icmp_unsigned(">=", magnitude, integer(kind, 0x7C00))
    special = builder.or_(scaled, integer(kind, _INFINITY))
    found = builder.or_(builder.select(is_special, special, scaled), sign)
    return builder.bitcast(found, moved.type)


def _to_half(emitter: FunctionEmitter, bits: ir.Value, is_nan: ir.Value) -> ir.Value:
    """f32 -> f16: small numbers are rounded by an addition of 1/2, whose last bit is 2^-24."""
    builder, kind = emitter.builder, bits.type
    magnitude = builder.and_(bits, integer(kind, 0x7FFFFFFF))
    sign = builder.lshr(builder.xor(bits, magnitude), integer(kind, 16))
    as_float = builder.bitcast(magnitude, _like(bits, _F32))
    sum_ = builder.fadd(as_float, ir.Constant(as_float.type, 0.5))
    small = builder.sub(builder.bitcast(sum_, kind), integer(kind, 126 << 23))
    moved = builder.sub(_round_to(emitter, magnitude, 13), integer(kind, 112 << 23))
    normal = builder.lshr(moved, integer(kind, 13))
    is_small = builder.icmp_unsigned("<", magnitude, integer(kind, 113 << 23))
    found = builder.select(is_small, small, normal)
    is_large = builder.icmp_unsigned(">=", magnitude, integer(kind, 143 << 23))
    found = builder.select(is_large, integer(kind, 0x7C00), found)
    found = builder.select(is_nan, integer(kind, 0x7E00), found)
    return builder.or_(found, sign)


def _has_half(emitter: FunctionEmitter) -> bool:
    return not emitter.module.target.features.isdisjoint(("f16c", "asimd"))


def _scalar(value: ir.Value) -> ir.Type:
    return value.type.element if isinstance(value.type, ir.VectorType) else value.type


def _like(value: ir.Value, scalar: ir.Type) -> ir.Type:
    """A type in as many lanes as a value has."""
    return (
        ir.VectorType(scalar, value.type.count) if isinstance(value.type, ir.VectorType) else scalar
    )
