"""Construction of loads and stores of a memory location."""

from __future__ import annotations

from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Operation, SSAValue

from ...dialects import affine, vector
from ...dialects.vector import is_vector, vector_of
from .alias_analysis import Place
from .ir_builder import IRBuilder, vector_constant, vector_of_zeros


def load(builder: IRBuilder, place: Place) -> SSAValue:
    """Appends a load of the place; lanes that its mask leaves out are zero."""
    if is_vector(place.type) and (place.mask is not None or place.offsets is not None):
        subscripts = [builder.value(subscript) for subscript in place.subscripts]
        mask = _mask(builder, place)
        zero = builder.emit(vector_of_zeros(place.type)).result
        operation = (
            xdsl_vector.MaskedLoadOp(place.memref, subscripts, mask, zero)
            if place.offsets is None
            else vector.GatherOp(place.memref, subscripts, _offsets(builder, place), mask, zero)
        )
        return builder.emit(operation).results[0]
    attribute, operands = builder.map(place.subscripts)
    kind = affine.VectorLoadOp if is_vector(place.type) else affine.LoadOp
    return builder.emit(
        kind.create(
            operands=[place.memref, *operands],
            properties={"map": attribute},
            result_types=[place.type],
        )
    ).results[0]


def store(builder: IRBuilder, place: Place, value: SSAValue) -> None:
    """Appends a store to the place."""
    if place.mask is not None or place.offsets is not None:
        subscripts = [builder.value(subscript) for subscript in place.subscripts]
        mask = _mask(builder, place)
        builder.emit(
            xdsl_vector.MaskedStoreOp(place.memref, subscripts, mask, value)
            if place.offsets is None
            else vector.ScatterOp(place.memref, subscripts, _offsets(builder, place), mask, value)
        )
        return
    attribute, operands = builder.map(place.subscripts)
    kind = affine.VectorStoreOp if is_vector(place.type) else affine.StoreOp
    builder.emit(
        kind.create(operands=[value, place.memref, *operands], properties={"map": attribute})
    )


def stored_value(operation: Operation) -> SSAValue:
    """What a store writes."""
    if isinstance(operation, xdsl_vector.MaskedStoreOp | vector.ScatterOp):
        return operation.value_to_store
    return operation.operands[0]


def _mask(builder: IRBuilder, place: Place) -> SSAValue:
    if place.mask is not None:
        return place.mask
    kind = vector_of(i1, place.width)
    return builder.emit(vector_constant(kind, (1,) * place.width)).result


def _offsets(builder: IRBuilder, place: Place) -> SSAValue:
    assert place.offsets is not None
    kind = vector_of(IndexType(), place.width)
    return builder.emit(vector_constant(kind, place.offsets)).result
