"""The `math` dialect: LLVM intrinsics, or functions of the C library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeAlias

from llvmlite import ir
from xdsl.dialects import math
from xdsl.ir import Operation

from ...dialects.mathematics import ClassOp, ExternalOp
from .elementary.functions import call_elementary_function, has_elementary_function
from .emitter import Emit, Emitters, FunctionEmitter, type_of
from .floats import flags_of, float_intrinsic
from .integer_arithmetic import width
from .module import ModuleEmitter
from .powers import is_expanded, power
from .reciprocal_roots import reciprocal_root
from .square_roots import square_root
from .types import I1, scalar_type
from .values import integer, per_lane
from .vector_functions import (
    call_vector_function,
    has_vector_function,
    offer_vector_functions,
)

# Applies a function to scalars or vectors, with fast-math flags.
Call: TypeAlias = "Callable[[FunctionEmitter, Sequence[ir.Value], Sequence[str]], ir.Value]"


def _function(name: str, call: Call) -> Emit:
    """A function of our own, else of the C library: for vectors its variants for these."""

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        operands, flags = emitter.all_values(op.operands), flags_of(emitter, op)
        kinds = [operand.type for operand in operands]
        if has_elementary_function(emitter.module.target, name, kinds) and not (
            name == "pow" and is_expanded(operands[1], approximate="afn" in flags)
        ):
            emitter.values[op.results[0]] = call_elementary_function(emitter, name, operands)
            return
        has_variants = has_vector_function(emitter, name, operands, flags)
        if has_variants and isinstance(kinds[0], ir.VectorType):
            emitter.values[op.results[0]] = call_vector_function(emitter, name, operands, kinds[0])
            return
        result = call(emitter, operands, flags)
        if has_variants and isinstance(result, ir.CallInstr):
            offer_vector_functions(emitter, name, result)
        emitter.values[op.results[0]] = result

    return emit


def _intrinsic(name: str) -> Call:
    """A function that LLVM has an intrinsic for."""

    def call(
        emitter: FunctionEmitter, operands: Sequence[ir.Value], flags: Sequence[str]
    ) -> ir.Value:
        return emitter.call_intrinsic(f"llvm.{name}", operands, operands[0].type, flags=flags)

    return call


def _library_function(name: str) -> Call:
    """A function that LLVM has no intrinsic for, called for each lane of a vector."""

    def call(
        emitter: FunctionEmitter, operands: Sequence[ir.Value], flags: Sequence[str]
    ) -> ir.Value:
        result = operands[0].type
        scalar = scalar_type(result)
        function = emitter.module.declare(
            f"{name}f" if isinstance(scalar, ir.FloatType) else name,
            ir.FunctionType(scalar, [scalar] * len(operands)),
            # These functions may set errno, which nobody reads.
            ("memory(none)", "willreturn"),
        )

        def call_once(arguments: Sequence[ir.Value]) -> ir.Value:
            return emitter.builder.call(function, arguments, fastmath=flags)

        return per_lane(emitter, operands, result, call_once)

    return call


def emit_external(emitter: FunctionEmitter, op: ExternalOp) -> None:
    """A function of our own, or one that is declared pure, called for each lane of vectors."""
    operands, result = emitter.all_values(op.operands), type_of(op.result)
    types = [operand.type for operand in operands]
    if result in types and has_elementary_function(emitter.module.target, op.function, types):
        emitter.values[op.result] = call_elementary_function(emitter, op.function, operands)
        return
    kinds = [scalar_type(operand.type) for operand in operands]
    kind = ir.FunctionType(scalar_type(result), kinds)
    function = emitter.module.declare(op.callee.data, kind, ("memory(none)", "willreturn"))
    emitter.values[op.result] = per_lane(
        emitter, operands, result, lambda arguments: emitter.builder.call(function, arguments)
    )


def _bit_count(name: str) -> Emit:
    """An integer intrinsic that has a second argument: whether a special value is undefined."""

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        (operand,) = emitter.all_values(op.operands)
        emitter.values[op.results[0]] = emitter.call_intrinsic(
            name, [operand, ir.Constant(I1, 0)], operand.type
        )

    return emit


def emit_ctpop(emitter: FunctionEmitter, op: math.CtPopOp) -> None:
    operand = emitter.value(op.operand)
    emitter.values[op.result] = emitter.call_intrinsic("llvm.ctpop", [operand], operand.type)


def emit_rsqrt(emitter: FunctionEmitter, op: math.RsqrtOp) -> None:
    operand, flags = emitter.value(op.operand), flags_of(emitter, op)
    emitter.values[op.result] = reciprocal_root(emitter, operand, flags)


def emit_fpowi(emitter: FunctionEmitter, op: math.FPowIOp) -> None:
    """Through `pow` in double precision, which holds the exponent exactly."""
    base, exponent = emitter.value(op.lhs), emitter.value(op.rhs)
    builder = emitter.builder
    double: ir.Type = ir.DoubleType()
    if isinstance(base.type, ir.VectorType):
        double = ir.VectorType(double, base.type.count)
    wide = base if base.type == double else builder.fpext(base, double)
    result = power(emitter, [wide, builder.sitofp(exponent, double)], flags_of(emitter, op))
    emitter.values[op.result] = (
        result if base.type == double else builder.fptrunc(result, base.type)
    )


def _class(name: str) -> Emit:
    """Comparisons of the magnitude; those with a NaN fail."""

    def emit(emitter: FunctionEmitter, op: ClassOp) -> None:
        operand, builder = emitter.value(op.operand), emitter.builder
        if name == "isnan":
            emitter.values[op.result] = builder.fcmp_unordered("uno", operand, operand)
            return
        kind = operand.type
        magnitude = emitter.call_intrinsic("llvm.fabs", [operand], kind)
        infinity = ir.Constant(kind, inf)
        relation = "==" if name == "isinf" else "<"
        result = builder.fcmp_ordered(relation, magnitude, infinity)
        if name == "isnormal":
            exponent = -126 if isinstance(scalar_type(kind), ir.FloatType) else -1022
            least = builder.fcmp_ordered(">=", magnitude, ir.Constant(kind, 2.0**exponent))
            result = builder.and_(least, result)
        emitter.values[op.result] = result

    return emit


def emit_ipowi(emitter: FunctionEmitter, op: math.IPowIOp) -> None:
    """Wraps around; 1 / base^n rounded towards zero for negative exponents, and 0 for 1 / 0."""
    operands = [emitter.value(op.lhs), emitter.value(op.rhs)]
    function = _integer_power(emitter.module, width(operands[0]))

    def call(arguments: Sequence[ir.Value]) -> ir.Value:
        return emitter.builder.call(function, arguments)

    emitter.values[op.result] = per_lane(emitter, operands, operands[0].type, call)


def _integer_power(module: ModuleEmitter, bits: int) -> ir.Function:
    """The module's function for integer powers of this width, by squaring."""
    name = f"integer_power.i{bits}"
    existing = module.module.globals.get(name)
    if isinstance(existing, ir.Function):
        return existing
    kind = ir.IntType(bits)
    function = module.define(name, ir.FunctionType(kind, [kind, kind]), public=False)
    base, exponent = function.args
    blocks = [function.append_basic_block(block) for block in ("entry", "inverse", "loop", "end")]
    entry, inverse, loop, end = blocks
    zero, one = integer(kind, 0), integer(kind, 1)

    builder = ir.IRBuilder(entry)
    # An i1 is its own power, and its exponent 1 is the integer -1.
    builder.cbranch(builder.icmp_signed("<", exponent, zero), inverse, loop)

    builder.position_at_end(inverse)
    odd = builder.icmp_signed("!=", builder.and_(exponent, one), zero)
    is_minus_one = builder.icmp_signed("==", base, integer(kind, -1))
    is_one = builder.icmp_signed("==", base, one)
    of_minus_one = builder.select(odd, integer(kind, -1), one)
    builder.ret(builder.select(is_one, one, builder.select(is_minus_one, of_minus_one, zero)))

    builder.position_at_end(loop)
    result, square, left = (builder.phi(kind) for _ in range(3))
    for phi, initial in ((result, one), (square, base), (left, exponent)):
        phi.add_incoming(initial, entry)
    multiply = builder.icmp_signed("!=", builder.and_(left, one), zero)
    following = builder.select(multiply, builder.mul(result, square), result)
    rest = builder.lshr(left, one) if bits > 1 else zero
    result.add_incoming(following, loop)
    square.add_incoming(builder.mul(square, square), loop)
    left.add_incoming(rest, loop)
    builder.cbranch(builder.icmp_signed("!=", rest, zero), loop, end)

    builder.position_at_end(end)
    builder.ret(following)
    return function


_INTRINSICS = {
    "absf": "fabs",
    "acos": "acos",
    "asin": "asin",
    "atan": "atan",
    "atan2": "atan2",
    "ceil": "ceil",
    "copysign": "copysign",
    "cos": "cos",
    "cosh": "cosh",
    "exp": "exp",
    "exp2": "exp2",
    "floor": "floor",
    "fma": "fma",
    "log": "log",
    "log10": "log10",
    "log2": "log2",
    "round": "round",
    "roundeven": "roundeven",
    "sin": "sin",
    "sinh": "sinh",
    "tan": "tan",
    "tanh": "tanh",
    "trunc": "trunc",
}
_LIBRARY_FUNCTIONS = ("acosh", "asinh", "atanh", "cbrt", "erf", "erfc", "expm1", "log1p")

EMITTERS: Emitters = {
    **{f"math.{name}": _function(what, _intrinsic(what)) for name, what in _INTRINSICS.items()},
    "math.powf": _function("pow", power),
    "math.sqrt": _function("sqrt", square_root),
    **{f"math.{name}": _function(name, _library_function(name)) for name in _LIBRARY_FUNCTIONS},
    **{f"math.{name}": _class(name) for name in ("isfinite", "isinf", "isnan", "isnormal")},
    "math.external": emit_external,
    "math.absi": _bit_count("llvm.abs"),
    "math.ctlz": _bit_count("llvm.ctlz"),
    "math.cttz": _bit_count("llvm.cttz"),
    "math.ctpop": emit_ctpop,
    "math.rsqrt": emit_rsqrt,
    "math.fpowi": emit_fpowi,
    "math.ipowi": emit_ipowi,
    "vector.fma": float_intrinsic("llvm.fma"),
}
