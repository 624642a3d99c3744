"""Conversions between types, on scalars and vectors."""

from __future__ import annotations

from llvmlite import ir
from xdsl.ir import Operation

from ...dialects.arith import TruncFOp
from ...dialects.narrow_floats import narrow_float
from .emitter import Emit, Emitters, FunctionEmitter, type_of
from .integer_arithmetic import width
from .narrow_floats import extended, rounded
from .types import scalar_type


def _cast(name: str) -> Emit:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        (value,) = emitter.all_values(op.operands)
        build = getattr(emitter.builder, name)
        emitter.values[op.results[0]] = build(value, type_of(op.results[0]))

    return emit


def _to_integer(name: str) -> Emit:
    """A float that does not fit gives an unspecified integer, but nothing undefined follows."""

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        (value,) = emitter.all_values(op.operands)
        kind = type_of(op.results[0])
        converted = getattr(emitter.builder, name)(value, kind)
        emitter.values[op.results[0]] = emitter.append("freeze", kind, [converted])

    return emit


def _extend(emitter: FunctionEmitter, op: Operation) -> None:
    """With fast math, what was rounded just before is taken as it was."""
    operand, result = op.operands[0], op.results[0]
    kind = narrow_float(operand.type)
    if kind is None:
        _cast("fpext")(emitter, op)
        return
    if emitter.module.options.fast_math and isinstance(operand.owner, TruncFOp):
        (exact,) = operand.owner.operands
        if exact.type == result.type:
            emitter.values[result] = emitter.value(exact)
            return
    emitter.values[result] = extended(emitter, emitter.value(operand), kind)


def _truncate(emitter: FunctionEmitter, op: Operation) -> None:
    kind = narrow_float(op.results[0].type)
    if kind is None:
        _cast("fptrunc")(emitter, op)
    else:
        emitter.values[op.results[0]] = rounded(emitter, emitter.value(op.operands[0]), kind)


def _index_cast(widening: str) -> Emit:
    """Extends or truncates."""

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        (value,) = emitter.all_values(op.operands)
        kind = type_of(op.results[0])
        scalar = scalar_type(kind)
        assert isinstance(scalar, ir.IntType)
        if value.type != kind:
            name = widening if width(value) < scalar.width else "trunc"
            value = getattr(emitter.builder, name)(value, kind)
        emitter.values[op.results[0]] = value

    return emit


EMITTERS: Emitters = {
    "arith.index_cast": _index_cast("sext"),
    "arith.index_castui": _index_cast("zext"),
    "arith.extsi": _cast("sext"),
    "arith.extui": _cast("zext"),
    "arith.trunci": _cast("trunc"),
    "arith.extf": _extend,
    "arith.truncf": _truncate,
    "arith.sitofp": _cast("sitofp"),
    "arith.uitofp": _cast("uitofp"),
    "arith.fptosi": _to_integer("fptosi"),
    "arith.fptoui": _to_integer("fptoui"),
    "arith.bitcast": _cast("bitcast"),
    "vector.bitcast": _cast("bitcast"),
}
