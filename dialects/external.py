"""Calls of functions with effects that a program only declares."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, MemRefType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    var_operand_def,
    var_result_def,
)

PRINTED_ARRAYS = frozenset(
    f"printMemref{kind}" for kind in ["F32", "F64", "I8", "I16", "I32", "I64", "Ind"]
)
"""Functions of MLIR's runtime library that print memory, which they only read."""


@irdl_op_definition
class ExternalCallOp(IRDLOperation):
    """`%0 = memref.external "next"(%A, %i) : (memref<?xf64>, index) -> f64 order %order`: a call.

    It may read and write the memory that it is handed, and all calls run in their order, as each
    updates the cell `order`. The function has the type that it is declared with.
    """

    name = "memref.external"

    callee = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    order = operand_def(MemRefType)
    operands_ = var_operand_def()
    results_ = var_result_def()

    assembly_format = (
        "$callee `(` $operands_ `)` attr-dict `:` functional-type($operands_, $results_) "
        "`as` $function_type `order` $order `:` type($order)"
    )

    def __init__(
        self,
        callee: str,
        operands: Sequence[SSAValue],
        results: Sequence[Attribute],
        kind: FunctionType,
        order: SSAValue,
    ) -> None:
        super().__init__(
            operands=[order, operands],
            result_types=[results],
            properties={"callee": StringAttr(callee), "function_type": kind},
        )


def touched_memrefs(operation: Operation) -> tuple[SSAValue, ...]:
    """The arrays that a call may read and write; none for other operations."""
    if not isinstance(operation, ExternalCallOp):
        return ()
    return tuple(each for each in operation.operands if isinstance(each.type, MemRefType))
