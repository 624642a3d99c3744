"""Index arithmetic with constant folding, so that trip counts stay visible."""

from __future__ import annotations

from llvmlite import ir

from .emitter import FunctionEmitter, constant
from .types import I64


def known(value: ir.Value) -> int | None:
    """The value of an integer constant; None for anything else."""
    if isinstance(value, ir.Constant) and isinstance(value.constant, int):
        return value.constant
    return None


def add(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
    """left + right, which must not overflow."""
    match known(left), known(right):
        case int(a), int(b):
            return constant(a + b)
        case 0, _:
            return right
        case _, 0:
            return left
        case _:
            return emitter.builder.add(left, right, flags=("nsw",))


def subtract(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
    """left - right, which must not overflow."""
    match known(left), known(right):
        case int(a), int(b):
            return constant(a - b)
        case _, 0:
            return left
        case _, int(b):
            return emitter.builder.add(left, constant(-b), flags=("nsw",))
        case _:
            return emitter.builder.sub(left, right, flags=("nsw",))


def multiply(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
    """left * right, which must not overflow."""
    match known(left), known(right):
        case int(a), int(b):
            return constant(a * b)
        case (0, _) | (_, 0):
            return constant(0)
        case 1, _:
            return right
        case _, 1:
            return left
        case _:
            return emitter.builder.mul(left, right, flags=("nsw",))


def floor_divide(emitter: FunctionEmitter, left: ir.Value, divisor: int) -> ir.Value:
    """floor(left / divisor) for a positive divisor."""
    value = known(left)
    if value is not None:
        return constant(value // divisor)
    if divisor == 1:
        return left
    builder = emitter.builder
    if divisor & (divisor - 1) == 0:
        return builder.ashr(left, constant(divisor.bit_length() - 1))
    # With s the sign (0 or -1): floor(a / d) = s ^ ((s ^ a) / d), since ~a = -1 - a.
    sign = builder.ashr(left, constant(63))
    quotient = builder.udiv(builder.xor(left, sign), constant(divisor))
    return builder.xor(quotient, sign)


def ceil_divide(emitter: FunctionEmitter, left: ir.Value, divisor: int) -> ir.Value:
    """ceil(left / divisor) for a positive divisor."""
    if divisor == 1:
        return left
    below = add(emitter, left, constant(-1))
    return add(emitter, floor_divide(emitter, below, divisor), constant(1))


def modulo(emitter: FunctionEmitter, left: ir.Value, divisor: int) -> ir.Value:
    """left mod divisor, in [0, divisor), for a positive divisor."""
    value = known(left)
    if value is not None:
        return constant(value % divisor)
    builder = emitter.builder
    if divisor & (divisor - 1) == 0:
        return builder.and_(left, constant(divisor - 1))
    remainder = builder.srem(left, constant(divisor))
    negative = builder.icmp_signed("<", remainder, constant(0))
    return builder.select(negative, builder.add(remainder, constant(divisor)), remainder)


def minimum(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
    """The smaller of two values."""
    match known(left), known(right):
        case int(a), int(b):
            return constant(min(a, b))
        case _:
            return emitter.call_intrinsic("llvm.smin", [left, right], I64)


def maximum(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
    """The larger of two values."""
    match known(left), known(right):
        case int(a), int(b):
            return constant(max(a, b))
        case _:
            return emitter.call_intrinsic("llvm.smax", [left, right], I64)
