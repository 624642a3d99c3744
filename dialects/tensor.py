"""The tensor dialect of xDSL, with the operations that it lacks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.dialects.tensor import Tensor as XdslTensor
from xdsl.dialects.tensor import YieldOp
from xdsl.ir import Attribute, Dialect, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class GenerateOp(IRDLOperation):
    """A tensor whose elements a region computes from their subscripts."""

    name = "tensor.generate"

    dynamic_extents = var_operand_def(IndexType())
    body = region_def("single_block")
    result = result_def(base(TensorType[Attribute]))

    assembly_format = "$dynamic_extents $body attr-dict `:` type($result)"
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp))

    def __init__(self, extents: Sequence[SSAValue], body: Region, kind: TensorType[Attribute]):
        super().__init__(operands=[extents], regions=[body], result_types=[kind])

    def verify_(self) -> None:
        kind = self.result.type
        assert isinstance(kind, TensorType)
        shape = kind.get_shape()
        if shape.count(DYNAMIC_INDEX) != len(self.dynamic_extents):
            raise VerifyException(
                f"{shape.count(DYNAMIC_INDEX)} extents of the result are dynamic, but "
                f"{len(self.dynamic_extents)} are given"
            )
        if [each.type for each in self.body.block.args] != [IndexType()] * len(shape):
            raise VerifyException(f"the region takes {len(shape)} subscripts of type index")


Tensor = Dialect("tensor", [*XdslTensor.operations, GenerateOp], [*XdslTensor.attributes])
