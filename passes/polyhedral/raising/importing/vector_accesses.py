"""Loads and stores of vectors, lane by lane.

vector.transfer_write %v, %A[%i] : vector<8xf32>, memref<?xf32>
->  affine.for %l = 0 to 8 { if %i + %l < size { store %v[%l], %A[%i + %l] } }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.dialects import affine, arith, memref, tensor, vector
from xdsl.dialects.builtin import AffineMapAttr, IndexType, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from .....dialects.affine import LoadOp, StoreOp
from .....dialects.errors import SourceError
from .....dialects.vector import GatherOp, ScatterOp
from ..cells import insert_before
from .emission import index_value, loop_nest, size_of
from .lanes import (
    Lanes,
    all_of,
    choose,
    compare,
    element_of,
    generate,
    perform,
    plus,
    tensor_type,
)


def _shifted(anchor: Operation, indices: Sequence[SSAValue], lanes: Lanes) -> list[SSAValue]:
    """Subscripts of a lane: those of a vector are the last ones of its memref."""
    first = len(indices) - len(lanes)
    return [
        plus(anchor, index, lanes[n - first]) if n >= first else index
        for n, index in enumerate(indices)
    ]


def _read(anchor: Operation, source: SSAValue, subscripts: Sequence[SSAValue]) -> SSAValue:
    if isinstance(source.type, TensorType):
        return element_of(anchor, source, subscripts)
    load = memref.LoadOp.get(source, subscripts)
    insert_before(anchor, load)
    return load.res


def _write(
    anchor: Operation, value: SSAValue, destination: SSAValue, subscripts: Sequence[SSAValue]
) -> None:
    insert_before(anchor, memref.StoreOp.get(value, destination, subscripts))


def _each_lane(
    operation: Operation, value: SSAValue, store: Callable[[Operation, Lanes], None]
) -> None:
    lanes, end = loop_nest(operation, tensor_type(value).get_shape())
    store(end, lanes)


def _load(operation: Operation) -> None:
    assert isinstance(operation, vector.LoadOp)
    base, indices = operation.base, operation.indices
    generate(operation, lambda anchor, lanes: _read(anchor, base, _shifted(anchor, indices, lanes)))


def _store(operation: Operation) -> None:
    assert isinstance(operation, vector.StoreOp)
    value, base, indices = operation.vector, operation.base, operation.indices
    _each_lane(
        operation,
        value,
        lambda end, lanes: _write(
            end, element_of(end, value, lanes), base, _shifted(end, indices, lanes)
        ),
    )


def _offset(
    anchor: Operation, indices: Sequence[SSAValue], offsets: SSAValue, lanes: Lanes
) -> list[SSAValue]:
    """Subscripts of a lane of a gather, whose last one has an offset."""
    offset = element_of(anchor, offsets, lanes)
    if not isinstance(offset.type, IndexType):
        cast = arith.IndexCastOp(offset, IndexType())
        insert_before(anchor, cast)
        offset = cast.result
    return [*indices[:-1], plus(anchor, indices[-1], offset)]


_Subscripts = Callable[[Operation, Lanes], list[SSAValue]]


def _masked_read(operation: vector.MaskedLoadOp | GatherOp, subscripts: _Subscripts) -> None:
    base, mask, otherwise = operation.base, operation.mask, operation.pass_thru
    generate(
        operation,
        lambda anchor, lanes: choose(
            anchor,
            element_of(anchor, mask, lanes),
            lambda end: _read(end, base, subscripts(end, lanes)),
            lambda end: element_of(end, otherwise, lanes),
        ),
    )


def _masked_write(operation: vector.MaskedStoreOp | ScatterOp, subscripts: _Subscripts) -> None:
    base, mask, value = operation.base, operation.mask, operation.value_to_store
    _each_lane(
        operation,
        value,
        lambda end, lanes: perform(
            end,
            element_of(end, mask, lanes),
            lambda inner: _write(
                inner, element_of(inner, value, lanes), base, subscripts(inner, lanes)
            ),
        ),
    )


def _masked_load(operation: Operation) -> None:
    assert isinstance(operation, vector.MaskedLoadOp)
    indices = operation.indices
    _masked_read(operation, lambda end, lanes: _shifted(end, indices, lanes))


def _masked_store(operation: Operation) -> None:
    assert isinstance(operation, vector.MaskedStoreOp)
    indices = operation.indices
    _masked_write(operation, lambda end, lanes: _shifted(end, indices, lanes))


def _gather(operation: Operation) -> None:
    assert isinstance(operation, GatherOp)
    indices, offsets = operation.indices, operation.index_vec
    _masked_read(operation, lambda end, lanes: _offset(end, indices, offsets, lanes))


def _scatter(operation: Operation) -> None:
    assert isinstance(operation, ScatterOp)
    indices, offsets = operation.indices, operation.index_vec
    _masked_write(operation, lambda end, lanes: _offset(end, indices, offsets, lanes))


_LaneMap = Callable[[AffineMap, int], AffineMapAttr]
"""The map of an access at a lane of so many dimensions: dims, then the lanes as dims, symbols."""


def _moved_map(function: AffineMap, rank: int) -> AffineMapAttr:
    """The last subscripts move with the lanes."""
    first = len(function.results) - rank
    results = tuple(
        result + AffineExpr.dimension(function.num_dims + n - first) if n >= first else result
        for n, result in enumerate(function.results)
    )
    return AffineMapAttr(AffineMap(function.num_dims + rank, function.num_symbols, results))


def _element_map(function: AffineMap, rank: int) -> AffineMapAttr:
    """The lanes are further subscripts: the element is a vector."""
    lanes = [AffineExpr.dimension(function.num_dims + n) for n in range(rank)]
    return AffineMapAttr(
        AffineMap(function.num_dims + rank, function.num_symbols, (*function.results, *lanes))
    )


def _operands(indices: Sequence[SSAValue], function: AffineMap, lanes: Lanes) -> list[SSAValue]:
    return [*indices[: function.num_dims], *lanes, *indices[function.num_dims :]]


def _affine_load(operation: Operation, lane_map: _LaneMap = _moved_map) -> None:
    assert isinstance(operation, affine.VectorLoadOp | LoadOp)
    base, indices, function = operation.memref, operation.indices, operation.map.data

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        place = lane_map(function, len(lanes))
        load = LoadOp(base, _operands(indices, function, lanes), place)
        insert_before(anchor, load)
        return load.result

    generate(operation, element)


def _affine_store(operation: Operation, lane_map: _LaneMap = _moved_map) -> None:
    assert isinstance(operation, affine.VectorStoreOp | StoreOp)
    base, indices, function = operation.memref, operation.indices, operation.map.data
    value = operation.value

    def store(end: Operation, lanes: Lanes) -> None:
        place = lane_map(function, len(lanes))
        element = element_of(end, value, lanes)
        insert_before(end, StoreOp(element, base, _operands(indices, function, lanes), place))

    _each_lane(operation, value, store)


_Transfer = vector.TransferReadOp | vector.TransferWriteOp


def _place(
    anchor: Operation, transfer: _Transfer, lanes: Lanes
) -> tuple[list[SSAValue], SSAValue | None]:
    """Subscripts of a lane of a transfer, and whether it exists; None where it always does."""
    subscripts = list(transfer.indices)
    conditions: list[SSAValue] = []
    masked: dict[int, SSAValue] = {}
    bounds = transfer.in_bounds.data
    for lane, result, inside in zip(
        lanes, transfer.permutation_map.data.results, bounds, strict=True
    ):
        if not isinstance(result, AffineDimExpr):
            continue
        position = result.position
        masked[position] = lane
        subscripts[position] = plus(anchor, subscripts[position], lane)
        if not inside.value.data:
            size = _extent(anchor, transfer.source, position)
            conditions.append(compare(anchor, "slt", subscripts[position], size))
    if transfer.mask is not None:
        lanes = [masked[position] for position in sorted(masked)]
        conditions.append(element_of(anchor, transfer.mask, lanes))
    return subscripts, all_of(anchor, conditions)


def _extent(anchor: Operation, source: SSAValue, position: int) -> SSAValue | int:
    if isinstance(source.type, TensorType):
        size = tensor.DimOp(source, index_value(anchor, position))
        insert_before(anchor, size)
        return size.result
    return size_of(anchor, source, position)


def _transfer_read(operation: Operation) -> None:
    assert isinstance(operation, vector.TransferReadOp)
    source, padding = operation.source, operation.padding

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        subscripts, exists = _place(anchor, operation, lanes)
        return choose(
            anchor, exists, lambda end: _read(end, source, subscripts), lambda end: padding
        )

    generate(operation, element)


def _transfer_write(operation: Operation) -> None:
    assert isinstance(operation, vector.TransferWriteOp)
    value, destination = operation.vector, operation.source
    if operation.results:
        raise SourceError.at(
            operation,
            "'vector.transfer_write' to a tensor is not supported",
            hint="bufferise the program first, with mlir-opt -one-shot-bufferize",
        )

    def store(end: Operation, lanes: Lanes) -> None:
        subscripts, exists = _place(end, operation, lanes)
        perform(
            end,
            exists,
            lambda inner: _write(inner, element_of(inner, value, lanes), destination, subscripts),
        )

    _each_lane(operation, value, store)


def _load_element(operation: Operation) -> None:
    """Loads a vector that is an element: its lanes are the last dimensions of the memref."""
    assert isinstance(operation, memref.LoadOp)
    base, indices = operation.memref, operation.indices
    generate(operation, lambda anchor, lanes: _read(anchor, base, [*indices, *lanes]))


def _store_element(operation: Operation) -> None:
    assert isinstance(operation, memref.StoreOp)
    value, base, indices = operation.value, operation.memref, operation.indices
    _each_lane(
        operation,
        value,
        lambda end, lanes: _write(end, element_of(end, value, lanes), base, [*indices, *lanes]),
    )


WHOLE_VECTORS: dict[str, Callable[[Operation], None]] = {
    "affine.load": partial(_affine_load, lane_map=_element_map),
    "affine.store": partial(_affine_store, lane_map=_element_map),
    "memref.load": _load_element,
    "memref.store": _store_element,
}
"""Of elements that are vectors, by the name of the operation."""

ACCESSES: dict[str, Callable[[Operation], None]] = {
    "affine.vector_load": _affine_load,
    "affine.vector_store": _affine_store,
    "vector.gather": _gather,
    "vector.load": _load,
    "vector.maskedload": _masked_load,
    "vector.maskedstore": _masked_store,
    "vector.scatter": _scatter,
    "vector.store": _store,
    "vector.transfer_read": _transfer_read,
    "vector.transfer_write": _transfer_write,
}
"""By the name of the operation."""
