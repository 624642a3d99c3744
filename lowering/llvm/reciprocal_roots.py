"""Reciprocal square roots in f32, where division and root may be approximated.

LLVM estimates them and improves the estimate, which turns those of zero and infinity into NaN. The
instructions for fewer than 512 bits take subnormal numbers for zeros. These are scaled where few
loops pay for it, with AVX-512; scaled in all loops, forces between particles take 1.4 to 1.7 times
as long with AVX2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from llvmlite import ir
from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ...passes.polyhedral.short_quotients import ShortQuotient, short_quotient
from .emitter import FunctionEmitter
from .types import I1, I32, scalar_type
from .values import splat

_INFINITY = 0x7F800000
"""The bits of infinity; those of zero differ from them in no other bit."""

_LEAST_NORMAL = 2.0**-126
_SCALE = 2.0**24
"""A power of 4 that makes normal numbers of subnormal ones."""

_ALL_OTHERS = ("afn", "arcp", "contract", "ninf", "nnan", "nsz")
"""What `fast` stands for besides `reassoc`."""

_CLASSES = 0b1110
"""Both zeros and infinity, as the instruction `vfpclassps` counts its classes."""


def is_estimated(kind: ir.Type, flags: Sequence[str]) -> bool:
    """Whether LLVM may estimate reciprocal square roots of such values."""
    return isinstance(scalar_type(kind), ir.FloatType) and "arcp" in flags


def reciprocal_root(emitter: FunctionEmitter, value: ir.Value, flags: Sequence[str]) -> ir.Value:
    """1 / sqrt(x), also of zero and infinity: each is the other one's reciprocal root."""
    builder, kind = emitter.builder, value.type
    if not is_estimated(kind, flags):
        return _inverted_root(emitter, value, flags)
    is_special = _is_zero_or_infinite(emitter, value)
    if not _is_scaled(emitter, kind):
        result = _inverted_root(emitter, value, flags)
    else:
        is_small = builder.fcmp_ordered("<", value, ir.Constant(kind, _LEAST_NORMAL))
        scale, factor = (
            builder.select(is_small, ir.Constant(kind, each), ir.Constant(kind, 1.0))
            for each in (_SCALE, _SCALE**0.5)
        )
        result = _inverted_root(emitter, builder.fmul(value, scale), flags)
        result = builder.fmul(result, factor)
    bits = ir.VectorType(I32, kind.count) if isinstance(kind, ir.VectorType) else I32
    other = builder.xor(builder.bitcast(value, bits), ir.Constant(bits, _INFINITY))
    return builder.select(is_special, builder.bitcast(other, kind), result)


def _inverted_root(emitter: FunctionEmitter, value: ir.Value, flags: Sequence[str]) -> ir.Value:
    root = emitter.call_intrinsic("llvm.sqrt", [value], value.type, flags=flags)
    return emitter.builder.fdiv(ir.Constant(value.type, 1.0), root, flags=flags)


def _is_scaled(emitter: FunctionEmitter, kind: ir.Type) -> bool:
    """Whether subnormal numbers are scaled.

    They are not for `vrsqrt14ps`, which knows them; LLVM takes it for whole registers of 512 bits.
    """
    target = emitter.module.target
    if target.vector_bits != 512 or "avx512f" not in target.features:
        return False
    return not (isinstance(kind, ir.VectorType) and 32 * kind.count % 512 == 0)


def _is_zero_or_infinite(emitter: FunctionEmitter, value: ir.Value) -> ir.Value:
    """One instruction where AVX-512 has it for so many lanes."""
    builder, kind = emitter.builder, value.type
    features = emitter.module.target.features
    if isinstance(kind, ir.VectorType) and "avx512dq" in features:
        bits = 32 * kind.count
        if bits == 512 or ("avx512vl" in features and bits in (128, 256)):
            name = f"llvm.x86.avx512.fpclass.ps.{bits}"
            arguments = [value, ir.Constant(I32, _CLASSES)]
            return emitter.call_intrinsic(name, arguments, ir.VectorType(I1, kind.count), ())
    is_zero = builder.fcmp_ordered("==", value, ir.Constant(kind, 0.0))
    is_infinite = builder.fcmp_ordered("==", value, ir.Constant(kind, inf))
    return builder.or_(is_zero, is_infinite)


def quotient(emitter: FunctionEmitter, op: arith.DivfOp, flags: Sequence[str]) -> ir.Value:
    """A quotient; by a root, or by a value times its root, a product with reciprocal roots."""
    left, right = emitter.all_values(op.operands)
    builder, divisor = emitter.builder, op.rhs.owner
    if "arcp" not in flags and (found := short_quotient(op)) is not None:
        way, reciprocal = found
        if way is ShortQuotient.PRODUCT or emitter.module.target.fuses_multiply_adds:
            return _by_product(emitter, left, right, reciprocal, way)
    if is_estimated(right.type, flags) and isinstance(divisor, Operation):
        if isinstance(divisor, math.SqrtOp):
            root = reciprocal_root(emitter, emitter.value(divisor.operand), flags)
            return builder.fmul(left, root, flags=flags)
        if (value := _beside_own_root(divisor)) is not None:
            root = reciprocal_root(emitter, emitter.value(value), flags)
            square = builder.fmul(root, root, flags=flags)
            return builder.fmul(left, builder.fmul(square, root, flags=flags), flags=flags)
        if _has_root(divisor):
            flags = [flag for flag in flags if flag not in ("arcp", "fast")]
    return builder.fdiv(left, right, flags=_apart(flags))


def _apart(flags: Sequence[str]) -> list[str]:
    """The flags without the licence to reassociate.

    With it, LLVM divides products: `x / y * z` as `x * z / y`, in a loop over `z` as often as that
    runs.
    """
    rest = [flag for flag in flags if flag not in ("reassoc", "fast")]
    return [*rest, *_ALL_OTHERS] if "fast" in flags else rest


def _by_product(
    emitter: FunctionEmitter, left: ir.Value, right: ir.Value, factor: float, way: ShortQuotient
) -> ir.Value:
    """A quotient of a short integer, exact to the bit."""
    builder, kind = emitter.builder, left.type
    reciprocal: ir.Value = ir.Constant(scalar_type(kind), factor)
    if isinstance(kind, ir.VectorType):
        reciprocal = splat(emitter, reciprocal, kind.count)
    quotient = builder.fmul(left, reciprocal)
    if way is ShortQuotient.PRODUCT:
        return quotient
    rest = emitter.call_intrinsic("llvm.fma", [builder.fneg(quotient), right, left], kind)
    return emitter.call_intrinsic("llvm.fma", [rest, reciprocal, quotient], kind)


def _beside_own_root(product: Operation) -> SSAValue | None:
    """The value that a product multiplies by its square root."""
    if isinstance(product, arith.MulfOp):
        for value, other in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
            if isinstance(other.owner, math.SqrtOp) and other.owner.operand == value:
                return value
    return None


def _has_root(factor: Operation, depth: int = 8) -> bool:
    """Whether a square root is among the factors of a product."""
    if isinstance(factor, arith.MulfOp) and depth:
        owners = [each.owner for each in factor.operands]
        return any(isinstance(each, Operation) and _has_root(each, depth - 1) for each in owners)
    return isinstance(factor, math.SqrtOp)
