"""The vector dialect: xDSL's, with the operations of MLIR that generated loops need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeGuard, TypeVar, cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .vector_shapes import SHAPES, IteratorTypeAttr


def is_vector(kind: Attribute) -> TypeGuard[VectorType[Attribute]]:
    """Whether a type is a vector; xDSL's `isa` takes a hundred times longer to say so."""
    return isinstance(kind, VectorType)


_Element = TypeVar("_Element", bound=Attribute)


def vector_of(element: _Element, width: int) -> VectorType[_Element]:
    """The type of vectors of so many elements, made and verified once."""
    return cast(VectorType[_Element], _vector_of(element, width))


@cache
def _vector_of(element: Attribute, width: int) -> VectorType[Attribute]:
    return VectorType(element, [width])


@irdl_op_definition
class GatherOp(IRDLOperation):
    """Reads elements at offsets from a base element, in elements of the innermost dimension.

    %0 = vector.gather %A[%i, %j] [%offsets], %mask, %otherwise
        : memref<?x?xf64>, vector<8xindex>, vector<8xi1>, vector<8xf64> into vector<8xf64>
    """

    name = "vector.gather"

    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    index_vec = operand_def(VectorType)
    mask = operand_def(VectorType)
    pass_thru = operand_def(VectorType)
    result = result_def(VectorType)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$base `[` $indices `]` `[` $index_vec `]` `,` $mask `,` $pass_thru attr-dict `:`"
        " type($base) `,` type($index_vec) `,` type($mask) `,` type($pass_thru)"
        " `into` type($result)"
    )

    def __init__(
        self,
        base: SSAValue,
        indices: Sequence[SSAValue],
        index_vec: SSAValue,
        mask: SSAValue,
        pass_thru: SSAValue,
    ) -> None:
        super().__init__(
            operands=[base, indices, index_vec, mask, pass_thru], result_types=[pass_thru.type]
        )

    def verify_(self) -> None:
        _verify_indexed(
            self.base.type, self.indices, self.index_vec.type, self.mask.type, self.result.type
        )
        if self.pass_thru.type != self.result.type:
            raise VerifyException("the values of masked lanes must have the type of the result")


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """Writes elements at offsets from a base element, in elements of the innermost dimension.

    vector.scatter %A[%i, %j] [%offsets], %mask, %values
        : memref<?x?xf64>, vector<8xindex>, vector<8xi1>, vector<8xf64>
    """

    name = "vector.scatter"

    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    index_vec = operand_def(VectorType)
    mask = operand_def(VectorType)
    value_to_store = operand_def(VectorType)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = (
        "$base `[` $indices `]` `[` $index_vec `]` `,` $mask `,` $value_to_store attr-dict `:`"
        " type($base) `,` type($index_vec) `,` type($mask) `,` type($value_to_store)"
    )

    def __init__(
        self,
        base: SSAValue,
        indices: Sequence[SSAValue],
        index_vec: SSAValue,
        mask: SSAValue,
        value_to_store: SSAValue,
    ) -> None:
        super().__init__(operands=[base, indices, index_vec, mask, value_to_store])

    def verify_(self) -> None:
        _verify_indexed(
            self.base.type,
            self.indices,
            self.index_vec.type,
            self.mask.type,
            self.value_to_store.type,
        )


@irdl_op_definition
class StepOp(IRDLOperation):
    """The numbers 0, 1, 2 ...: `%0 = vector.step : vector<8xindex>`."""

    name = "vector.step"

    result = result_def(VectorType.constr(IndexType()))

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, result_type: VectorType) -> None:
        super().__init__(result_types=[result_type])

    def verify_(self) -> None:
        if len(_shape(self.result.type)) != 1:
            raise VerifyException("the result must be a vector of rank 1")


@irdl_op_definition
class ConstantMaskOp(IRDLOperation):
    """A mask whose first lanes are set: `%0 = vector.constant_mask [3] : vector<8xi1>`."""

    name = "vector.constant_mask"

    mask_dim_sizes = prop_def(DenseArrayBase.constr(i64))
    mask = result_def(VectorType.constr(i1))

    traits = traits_def(Pure())

    assembly_format = "$mask_dim_sizes attr-dict `:` type($mask)"

    def __init__(self, sizes: Sequence[int], result_type: VectorType) -> None:
        super().__init__(
            properties={"mask_dim_sizes": DenseArrayBase.from_list(i64, sizes)},
            result_types=[result_type],
        )

    def verify_(self) -> None:
        sizes, shape = self.mask_dim_sizes.get_values(), _shape(self.mask.type)
        if len(sizes) != len(shape):
            raise VerifyException("expected a size for each dimension of the mask")
        if any(not 0 <= size <= lanes for size, lanes in zip(sizes, shape, strict=True)):
            raise VerifyException("sizes must lie between 0 and those of the mask")


def _shape(type: Attribute) -> tuple[int, ...]:
    return type.get_shape() if isa(type, VectorType) else ()


def _verify_indexed(
    base: Attribute,
    indices: Sequence[SSAValue],
    offsets: Attribute,
    mask: Attribute,
    values: Attribute,
) -> None:
    if not (isa(base, MemRefType) and isa(offsets, VectorType) and isa(values, VectorType)):
        raise VerifyException("expected a memref and vectors")
    if base.get_num_dims() != len(indices):
        raise VerifyException("expected an index for each dimension of the memref")
    if base.element_type != values.element_type:
        raise VerifyException("memref and vector must have the same element type")
    if not isinstance(offsets.element_type, IndexType | IntegerType):
        raise VerifyException("offsets must be integers")
    if offsets.get_shape() != values.get_shape():
        raise VerifyException("expected an offset for each lane")
    if mask != VectorType(i1, values.get_shape()):
        raise VerifyException("expected a mask bit for each lane")


_KEPT = [each for each in vector.Vector.operations if each is not vector.PrintOp]

Vector = Dialect(
    "vector",
    [*_KEPT, ConstantMaskOp, GatherOp, ScatterOp, StepOp, *SHAPES],
    [*vector.Vector.attributes, IteratorTypeAttr],
)
