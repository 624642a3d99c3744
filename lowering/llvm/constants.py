"""Constants."""

from __future__ import annotations

from llvmlite import ir
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr

from ...dialects.errors import SourceError
from .emitter import Emitters, FunctionEmitter, type_of


def emit_constant(emitter: FunctionEmitter, op: arith.ConstantOp) -> None:
    kind = type_of(op.result)
    match op.value:
        case IntegerAttr() | FloatAttr():
            emitter.values[op.result] = ir.Constant(kind, op.value.value.data)
        case DenseIntOrFPElementsAttr() if isinstance(kind, ir.VectorType):
            elements = list(op.value.get_values())
            if len(elements) == 1:
                elements *= kind.count
            emitter.values[op.result] = ir.Constant(
                kind, [ir.Constant(kind.element, element) for element in elements]
            )
        case _:
            raise SourceError.at(op, "a constant must be a number or a vector of numbers")


EMITTERS: Emitters = {arith.ConstantOp.name: emit_constant}
