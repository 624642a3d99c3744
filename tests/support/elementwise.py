"""Programs that apply one operation to each element of arrays, scalar by scalar and in vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from loopwright.dialects import affine
from loopwright.dialects.parse import parse_module

from .machine_code import NUMPY_TYPES, MachineCode

LANES = 8


@dataclass(frozen=True)
class Elementwise:
    """One operation: its text with `{0}`, `{1}` ... for operands; operand and result types."""

    name: str
    body: str
    operands: tuple[str, ...]
    results: tuple[str, ...]

    def function(self, name: str, size: int) -> str:
        """A function on arrays of `size` elements: inputs, then outputs."""
        inputs = [(f"%a{number}", kind) for number, kind in enumerate(self.operands)]
        outputs = [(f"%r{number}", kind) for number, kind in enumerate(self.results)]
        arrays = [f"{array}: memref<{size}x{kind}>" for array, kind in [*inputs, *outputs]]
        results = [f"%y{number}" for number in range(len(outputs))]
        lines = [
            f"func.func @{name}({', '.join(arrays)}) {{",
            f"affine.for %i = 0 to {size} {{",
            *(
                f"%x{number} = affine.load {array}[%i] : memref<{size}x{kind}>"
                for number, (array, kind) in enumerate(inputs)
            ),
            f"{', '.join(results)} = " + self.body.format(*(f"%x{n}" for n in range(len(inputs)))),
            *(
                f"affine.store {result}, {array}[%i] : memref<{size}x{kind}>"
                for result, (array, kind) in zip(results, outputs, strict=True)
            ),
            "}",
            "return",
            "}",
        ]
        return "\n".join(lines)


class ElementwiseCode:
    """The machine code of several operations, by scalars and by vectors."""

    def __init__(self, operations: Sequence[Elementwise], size: int) -> None:
        self.size = size
        self.operations = {operation.name: operation for operation in operations}
        text = [operation.function(operation.name, size) for operation in operations]
        text += [operation.function(f"{operation.name}_v", size) for operation in operations]
        module = parse_module("\n".join(text))
        for function in module.ops:
            if isinstance(function, func.FuncOp) and function.sym_name.data.endswith("_v"):
                use_vectors(function)
        self.code = MachineCode(module, vectorise=False)

    def __call__(self, name: str, *inputs: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """The results of an operation, after a check that vectors give the same as scalars."""
        kinds = self.operations[name].results
        outputs = [[np.zeros(self.size, NUMPY_TYPES[kind]) for kind in kinds] for _ in range(2)]
        self.code(name, *inputs, *outputs[0])
        self.code(f"{name}_v", *inputs, *outputs[1])
        for scalar, vector in zip(*outputs, strict=True):
            np.testing.assert_array_equal(scalar, vector)
        return outputs[0]


def use_vectors(function: func.FuncOp) -> None:
    """Lets the only loop of a function run 8 iterations at once."""
    (loop,) = (op for op in function.walk() if isinstance(op, affine.ForOp))
    loop.properties["step"] = IntegerAttr.from_index_int_value(LANES)
    values: dict[SSAValue, SSAValue] = {}
    for op in tuple(loop.body.block.ops):
        if isinstance(op, affine.YieldOp):
            continue
        operands = [values.get(operand, operand) for operand in op.operands]
        new: Operation
        if isinstance(op, affine.LoadOp):
            kind = VectorType(op.result.type, [LANES])
            new = affine.VectorLoadOp(op.memref, op.indices, op.map, kind)
        elif isinstance(op, affine.StoreOp):
            new = affine.VectorStoreOp(operands[0], op.memref, op.indices, op.map)
        else:
            new = type(op).create(
                operands=operands,
                result_types=[VectorType(kind, [LANES]) for kind in op.result_types],
                properties=dict(op.properties),
            )
        Rewriter.insert_op(new, InsertPoint.before(op))
        values.update(zip(op.results, new.results, strict=True))
    for op in reversed(tuple(loop.body.block.ops)):
        if not isinstance(op, affine.YieldOp) and not _has_vector(op):
            Rewriter.erase_op(op)


def _has_vector(op: Operation) -> bool:
    return any(isinstance(value.type, VectorType) for value in (*op.operands, *op.results))
