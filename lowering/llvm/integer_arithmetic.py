"""Integer arithmetic, on scalars and vectors.

Nothing here is undefined: a division or remainder by zero gives 0, the quotient of the smallest
integer and -1 wraps around, and a shift by the width or more gives what shifting bit by bit would.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from xdsl.dialects import arith
from xdsl.ir import Operation

from .accumulated_extrema import emit_in_any_order
from .dot_products import emit_dot_product
from .emitter import Emit, Emitters, FunctionEmitter
from .types import scalar_type
from .values import integer, known_elements

_Binary = Callable[[FunctionEmitter, ir.Value, ir.Value], ir.Value]


def width(value: ir.Value) -> int:
    """Bits of an integer or of each element of a vector."""
    scalar = scalar_type(value.type)
    assert isinstance(scalar, ir.IntType)
    return scalar.width


def _elementwise(emit_binary: _Binary) -> Emit:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        left, right = emitter.all_values(op.operands)
        emitter.values[op.results[0]] = emit_binary(emitter, left, right)

    return emit


def _wrapping(name: str) -> Emit:
    """An operation that wraps around unless its flags promise that it does not."""

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        promised = op.properties.get("overflowFlags")
        flags = (
            sorted(flag.value for flag in promised.data)
            if isinstance(promised, arith.IntegerOverflowAttr)
            else ()
        )
        left, right = emitter.all_values(op.operands)
        build = getattr(emitter.builder, name)
        emitter.values[op.results[0]] = build(left, right, flags=flags)

    return emit


def _bitwise(name: str) -> Emit:
    def emit_binary(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
        return getattr(emitter.builder, name)(left, right)

    return _elementwise(emit_binary)


def _extremum(intrinsic: str) -> Emit:
    def emit_binary(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
        return emitter.call_intrinsic(intrinsic, [left, right], left.type)

    return _elementwise(emit_binary)


def _safe_divisor(
    emitter: FunctionEmitter, dividend: ir.Value, divisor: ir.Value, *, signed: bool
) -> tuple[ir.Value, ir.Value | None]:
    """A divisor that the processor does not trap on, and whether the given one is zero.

    The second is None when that is known not to be. Where the quotient would overflow, the divisor
    is 1: the smallest integer divided by that is the wrapped quotient, with remainder 0.
    """
    traps = (0, -1) if signed else (0,)
    elements = known_elements(divisor)
    if elements is not None and not any(element in traps for element in elements):
        return divisor, None
    builder = emitter.builder
    kind = divisor.type
    is_zero = builder.icmp_signed("==", divisor, integer(kind, 0))
    replaced: ir.Value = is_zero
    if signed and width(divisor) > 1:
        overflows = builder.and_(
            builder.icmp_signed("==", dividend, integer(kind, 1 << (width(divisor) - 1))),
            builder.icmp_signed("==", divisor, integer(kind, -1)),
        )
        replaced = builder.or_(is_zero, overflows)
    return builder.select(replaced, integer(kind, 1), divisor), is_zero


def _division(name: str, *, signed: bool, round_up: bool | None = None) -> Emit:
    """A division or remainder; a quotient is rounded as said or (None) towards zero."""

    def emit_binary(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
        builder = emitter.builder
        divisor, is_zero = _safe_divisor(emitter, left, right, signed=signed)
        result = getattr(builder, name)(left, divisor)
        zero = integer(left.type, 0)
        if round_up is not None:
            remainder = (builder.srem if signed else builder.urem)(left, divisor)
            adjust: ir.Value = builder.icmp_signed("!=", remainder, zero)
            if signed:
                opposite = builder.xor(remainder, divisor)
                away = builder.icmp_signed(">=" if round_up else "<", opposite, zero)
                adjust = builder.and_(adjust, away)
            one = builder.zext(adjust, left.type) if width(left) > 1 else adjust
            result = (builder.add if round_up else builder.sub)(result, one)
        return result if is_zero is None else builder.select(is_zero, zero, result)

    return _elementwise(emit_binary)


def _shift(name: str) -> Emit:
    def emit_binary(emitter: FunctionEmitter, left: ir.Value, right: ir.Value) -> ir.Value:
        builder = emitter.builder
        build = getattr(builder, name)
        bits = width(left)
        elements = known_elements(right)
        if elements is not None and all(0 <= element < bits for element in elements):
            return build(left, right)
        last = integer(right.type, bits - 1)
        excessive = builder.icmp_unsigned(">", right, last)
        if name == "ashr":
            return build(left, builder.select(excessive, last, right))
        return builder.select(excessive, integer(left.type, 0), build(left, right))

    return _elementwise(emit_binary)


def _extended_product(*, signed: bool) -> Emit:
    """The low and the high half of a product."""

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        left, right = emitter.all_values(op.operands)
        builder = emitter.builder
        bits = width(left)
        wide: ir.Type = ir.IntType(2 * bits)
        if isinstance(left.type, ir.VectorType):
            wide = ir.VectorType(wide, left.type.count)
        extend = builder.sext if signed else builder.zext
        product = builder.mul(extend(left, wide), extend(right, wide))
        high = builder.lshr(product, ir.Constant(wide, bits))
        for result, half in zip(op.results, (product, high), strict=True):
            emitter.values[result] = builder.trunc(half, left.type)

    return emit


def emit_extended_sum(emitter: FunctionEmitter, op: arith.AddUIExtendedOp) -> None:
    left, right = emitter.value(op.lhs), emitter.value(op.rhs)
    total = emitter.builder.add(left, right)
    emitter.values[op.sum] = total
    emitter.values[op.overflow] = emitter.builder.icmp_unsigned("<", total, left)


_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FIRST_UNSIGNED = 6


def emit_cmpi(emitter: FunctionEmitter, op: arith.CmpiOp) -> None:
    predicate = op.predicate.value.data
    builder = emitter.builder
    compare = builder.icmp_unsigned if predicate >= _FIRST_UNSIGNED else builder.icmp_signed
    emitter.values[op.result] = compare(
        _PREDICATES[predicate], emitter.value(op.lhs), emitter.value(op.rhs)
    )


def emit_select(emitter: FunctionEmitter, op: arith.SelectOp) -> None:
    if (extremum := emitter.in_any_order.get(op)) is not None:
        emit_in_any_order(emitter, op, extremum)
        return
    condition, left, right = emitter.all_values(op.operands)
    emitter.values[op.result] = emitter.builder.select(condition, left, right)


_emit_addition = _wrapping("add")


def emit_addi(emitter: FunctionEmitter, op: arith.AddiOp) -> None:
    if not emit_dot_product(emitter, op):
        _emit_addition(emitter, op)


EMITTERS: Emitters = {
    "arith.addi": emit_addi,
    "arith.subi": _wrapping("sub"),
    "arith.muli": _wrapping("mul"),
    "arith.addui_extended": emit_extended_sum,
    "arith.mulsi_extended": _extended_product(signed=True),
    "arith.mului_extended": _extended_product(signed=False),
    "arith.divsi": _division("sdiv", signed=True),
    "arith.divui": _division("udiv", signed=False),
    "arith.remsi": _division("srem", signed=True),
    "arith.remui": _division("urem", signed=False),
    "arith.floordivsi": _division("sdiv", signed=True, round_up=False),
    "arith.ceildivsi": _division("sdiv", signed=True, round_up=True),
    "arith.ceildivui": _division("udiv", signed=False, round_up=True),
    "arith.minsi": _extremum("llvm.smin"),
    "arith.maxsi": _extremum("llvm.smax"),
    "arith.minui": _extremum("llvm.umin"),
    "arith.maxui": _extremum("llvm.umax"),
    "arith.andi": _bitwise("and_"),
    "arith.ori": _bitwise("or_"),
    "arith.xori": _bitwise("xor"),
    "arith.shli": _shift("shl"),
    "arith.shrui": _shift("lshr"),
    "arith.shrsi": _shift("ashr"),
    "arith.cmpi": emit_cmpi,
    "arith.select": emit_select,
}
