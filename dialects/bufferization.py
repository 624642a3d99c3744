"""The bufferization dialect of xDSL: buffers of tensors may have any layout."""

from __future__ import annotations

from xdsl.dialects import bufferization
from xdsl.dialects.builtin import MemRefType, TensorType, UnitAttr
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, result_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


def _verify(buffer: Attribute, value: Attribute) -> None:
    assert isa(buffer, MemRefType) and isa(value, TensorType)
    if (buffer.get_shape(), buffer.element_type) != (value.get_shape(), value.element_type):
        raise VerifyException("tensor and buffer have the same shape and elements")


@irdl_op_definition
class ToTensorOp(IRDLOperation):
    """`%0 = bufferization.to_tensor %A restrict : memref<8xf32, strided<[?]>> to tensor<8xf32>`."""

    name = "bufferization.to_tensor"

    memref = operand_def(MemRefType)
    tensor = result_def(TensorType)
    writable = opt_prop_def(UnitAttr)
    restrict = opt_prop_def(UnitAttr)

    assembly_format = (
        "$memref (`restrict` $restrict^)? (`writable` $writable^)? attr-dict "
        "`:` type($memref) `to` type($tensor)"
    )

    def verify_(self) -> None:
        _verify(self.memref.type, self.tensor.type)


@irdl_op_definition
class ToBufferOp(IRDLOperation):
    """`%0 = bufferization.to_buffer %t : tensor<8xf32> to memref<8xf32, strided<[?]>>`."""

    name = "bufferization.to_buffer"

    tensor = operand_def(TensorType)
    memref = result_def(MemRefType)
    read_only = opt_prop_def(UnitAttr)

    assembly_format = (
        "$tensor (`read_only` $read_only^)? attr-dict `:` type($tensor) `to` type($memref)"
    )

    def verify_(self) -> None:
        _verify(self.memref.type, self.tensor.type)


_OWN = {each.name: each for each in (ToTensorOp, ToBufferOp)}

Bufferization = Dialect(
    "bufferization",
    [_OWN.get(each.name, each) for each in bufferization.Bufferization.operations],
    list(bufferization.Bufferization.attributes),
)
