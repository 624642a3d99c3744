"""Operations of the index dialect -> arith.

%0 = index.floordivs %i, %c   ->   %0 = arith.floordivsi %i, %c : index
"""

from __future__ import annotations

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from .....dialects import index
from .....dialects.arith import Arith, IndexCastOp
from ..cells import insert_before
from .emission import erase

_OPERATIONS: dict[str, type[Operation]] = {each.name: each for each in Arith.operations}


def replace_index_operations(function: func.FuncOp) -> None:
    """Rewrites a function in place."""
    for operation in list(function.walk()):
        if not operation.name.startswith("index."):
            continue
        new = _as_arith(operation)
        if isinstance(new, Operation):
            new.location = operation.location
            insert_before(operation, new)
            new.results[0].name_hint = operation.results[0].name_hint
            new = new.results[0]
        operation.results[0].replace_all_uses_with(new)
        erase(operation)


def _as_arith(operation: Operation) -> Operation | SSAValue:
    kinds = [value.type for value in (*operation.operands, *operation.results)]
    match operation:
        case index.ConstantOp() | index.BoolConstantOp():
            return arith.ConstantOp(operation.value)
        case index.CmpOp():
            return arith.CmpiOp(operation.lhs, operation.rhs, operation.predicate.data)
        case index.CastOp() if kinds == [IndexType(), IndexType()]:
            return operation.operand
        case index.CastOp():
            is_signed = isinstance(operation, index.CastSOp)
            make = IndexCastOp if is_signed else _OPERATIONS["arith.index_castui"]
            return make.create(operands=[operation.operand], result_types=[kinds[-1]])
        case _:
            name = index.BINARY[operation.name.removeprefix("index.")]
            kind = _OPERATIONS[f"arith.{name}"]
            return kind.create(operands=operation.operands, result_types=[IndexType()])
