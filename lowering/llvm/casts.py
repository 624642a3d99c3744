"""Conversions between types, on scalars and vectors."""

from __future__ import annotations

from llvmlite import ir
from xdsl.dialects import arith
from xdsl.ir import Operation

from .emitter import Emit, Emitters, FunctionEmitter, type_of
from .integer_arithmetic import width
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


def emit_index_cast(emitter: FunctionEmitter, op: arith.IndexCastOp) -> None:
    """Sign-extends or truncates."""
    value, kind = emitter.value(op.input), type_of(op.result)
    scalar = scalar_type(kind)
    assert isinstance(scalar, ir.IntType)
    if value.type != kind:
        builder = emitter.builder
        value = (builder.sext if width(value) < scalar.width else builder.trunc)(value, kind)
    emitter.values[op.result] = value


EMITTERS: Emitters = {
    "arith.index_cast": emit_index_cast,
    "arith.extsi": _cast("sext"),
    "arith.extui": _cast("zext"),
    "arith.trunci": _cast("trunc"),
    "arith.extf": _cast("fpext"),
    "arith.truncf": _cast("fptrunc"),
    "arith.sitofp": _cast("sitofp"),
    "arith.uitofp": _cast("uitofp"),
    "arith.fptosi": _to_integer("fptosi"),
    "arith.fptoui": _to_integer("fptoui"),
    "arith.bitcast": _cast("bitcast"),
    "vector.bitcast": _cast("bitcast"),
}
