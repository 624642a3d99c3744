"""Constants of the `arith` dialect."""

from __future__ import annotations

from llvmlite import ir
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects.errors import SourceError
from ...dialects.narrow_floats import bits_of, narrow_float
from .emitter import Emitters, FunctionEmitter, type_of
from .values import integer


def emit_constant(emitter: FunctionEmitter, op: arith.ConstantOp) -> None:
    kind = type_of(op.result)
    value = op.value
    if isinstance(value, IntegerAttr | FloatAttr):
        emitter.values[op.result] = _scalar(kind, _stored(value.value.data, op.result))
    elif isa(value, DenseIntOrFPElementsAttr) and isinstance(kind, ir.VectorType):
        made = emitter.module.vectors
        key = value, op.result.type
        found = made.get(key)
        if found is None:
            found = made[key] = _vector(kind, value, op.result)
        emitter.values[op.result] = found
    else:
        raise SourceError.at(op, "a constant must be a number or a vector of numbers")


def _vector(kind: ir.VectorType, value: DenseIntOrFPElementsAttr, result: SSAValue) -> ir.Constant:
    elements = list(value.get_values())
    if len(elements) == 1:
        elements *= kind.count
    return ir.Constant(kind, [_scalar(kind.element, _stored(each, result)) for each in elements])


def _stored(value: object, result: SSAValue) -> object:
    """A number, or the bits of it where the type is f16 or bf16."""
    kind = narrow_float(result.type)
    return bits_of(value, kind) if kind is not None and isinstance(value, int | float) else value


def _scalar(kind: ir.Type, value: object) -> ir.Constant:
    if isinstance(kind, ir.IntType) and isinstance(value, int):
        return integer(kind, value)
    assert isinstance(value, int | float)
    return ir.Constant(kind, float(value))


def emit_undefined(emitter: FunctionEmitter, op: Operation) -> None:
    # Zero, so that a program gives one result however it is scheduled and optimised.
    emitter.values[op.results[0]] = ir.Constant(type_of(op.results[0]), None)


EMITTERS: Emitters = {"arith.constant": emit_constant, "llvm.mlir.undef": emit_undefined}
