"""Operations on tensors, one by one, as operations on their buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, bufferization, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    TensorType,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.hints import isa

from .....dialects.affine import LoadOp, StoreOp
from .....dialects.errors import SourceError
from .....dialects.tensor import GenerateOp
from ..cells import insert_before
from .buffers import Buffers, buffer_type, same_part
from .copies import copy_elements
from .emission import Size, loop_nest, move_before, sizes_of
from .globals import fill_constant


def structured(operation: Operation, buffers: Buffers) -> None:
    """linalg on tensors: the same operation on buffers."""
    from .....dialects.linalg import StructuredOp

    assert isinstance(operation, StructuredOp)
    inputs = [buffers.operand(each) for each in operation.inputs]
    outputs: list[SSAValue] = []
    results = iter(operation.results)
    for number, output in enumerate(operation.outputs):
        if output in buffers:
            outputs.append(
                buffers.destination(
                    operation,
                    len(inputs) + number,
                    next(results),
                    reads=_reads_output(operation, number),
                )
            )
        else:
            outputs.append(output)
    regions = [operation.detach_region(0) for _ in list(operation.regions)]
    new = type(operation).create(
        operands=[*inputs, *outputs],
        properties=operation.properties,
        attributes=operation.attributes,
        regions=regions,
    )
    insert_before(operation, new)


def _reads_output(operation: Operation, number: int) -> bool:
    """Whether old elements of an output matter: those that are read or not written."""
    from .....dialects.linalg import StructuredOp
    from .....dialects.linalg.definitions import DEFINITIONS

    assert isinstance(operation, StructuredOp)
    name = operation.name.partition(".")[2]
    if name in ("broadcast", "transpose", "map", "elementwise"):
        return name == "map" and len(operation.bodies[0].block.args) > len(operation.inputs)
    if name in DEFINITIONS:
        return DEFINITIONS[name].output != "*"
    maps = operation.properties.get("indexing_maps")
    if name != "generic" or not isa(maps, ArrayAttr[AffineMapAttr]):
        return True
    argument = operation.bodies[0].block.args[len(operation.inputs) + number]
    function = maps.data[len(operation.inputs) + number].data
    whole = sorted(map(str, function.results)) == sorted(
        str(AffineExpr.dimension(n)) for n in range(function.num_dims)
    )
    return bool(argument.uses) or not whole


def elementwise(operation: Operation, buffers: Buffers) -> None:
    """Operations of arith and math on whole tensors: a loop over their elements."""
    if isinstance(operation, arith.ConstantOp):
        _constant(operation, buffers)
        return
    if len(operation.results) != 1 or operation.regions:
        raise SourceError.at(operation, f"'{operation.name}' of tensors is not supported")
    (result,) = operation.results
    like = next(each for each in operation.operands if each in buffers)
    kind = buffer_type(result)
    sizes = [each for each in sizes_of(operation, buffers[like]) if isinstance(each, SSAValue)]
    buffer = buffers.allocate(operation, kind, sizes, result.name_hint)
    variables, end = loop_nest(operation, sizes_of(operation, buffers[like]))
    identity = AffineMapAttr(AffineMap.identity(len(variables)))
    operands: list[SSAValue] = []
    for operand in operation.operands:
        if operand in buffers:
            load = LoadOp(buffers[operand], variables, identity)
            insert_before(end, load)
            operands.append(load.result)
        else:
            operands.append(operand)
    one = type(operation).create(
        operands=operands, result_types=[kind.element_type], properties=operation.properties
    )
    insert_before(end, one, StoreOp(one.results[0], buffer, variables, identity))
    buffers.add(result, buffer, operation.parent)


def _constant(operation: arith.ConstantOp, buffers: Buffers) -> None:
    value = operation.value
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise SourceError.at(operation, "this constant is not supported")
    buffer = buffers.allocate(
        operation, buffer_type(operation.result), [], operation.result.name_hint
    )
    fill_constant(operation, buffer, value, operation)
    buffers.add(operation.result, buffer, operation.parent)


def _empty(operation: Operation, buffers: Buffers) -> None:
    (result,) = operation.results
    buffer = buffers.allocate(
        operation, buffer_type(result), list(operation.operands), result.name_hint
    )
    buffers.add(result, buffer, operation.parent, is_undefined=True)


def _alloc_tensor(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, bufferization.AllocTensorOp)
    if operation.copy is None:
        _empty(operation, buffers)
        return
    buffer = buffers.allocate_like(operation, operation.copy)
    copy_elements(operation, buffers[operation.copy], buffer)
    buffers.add(operation.tensor, buffer, operation.parent)


def _part(
    operation: tensor.ExtractSliceOp | tensor.InsertSliceOp, buffer: SSAValue, shape: TensorType
) -> SSAValue:
    """The part of a buffer that a slice is, as a view."""
    view = memref.SubviewOp.build(
        operands=[buffer, operation.offsets, operation.sizes, operation.strides],
        result_types=[MemRefType(shape.element_type, shape.get_shape())],
        properties={
            name: operation.properties[name]
            for name in ("static_offsets", "static_sizes", "static_strides")
        },
    )
    insert_before(operation, view)
    return view.result


def _extract_slice(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, tensor.ExtractSliceOp)
    kind = operation.result.type
    assert isa(kind, TensorType)
    part = _part(operation, buffers[operation.source], kind)
    buffers.share(operation.result, operation.source, part)


def _insert_slice(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, tensor.InsertSliceOp)
    source = buffers[operation.source]
    taken = _taken_from(operation.source, operation.dest, buffers)
    in_place = taken is not None and same_part(taken, operation)
    besides = operation.source if in_place else None
    buffer = buffers.destination(operation, 1, operation.result, besides=besides)
    if in_place and buffer is buffers[operation.dest]:
        return
    kind = operation.source.type
    assert isa(kind, TensorType)
    copy_elements(operation, source, _part(operation, buffer, kind))


def _taken_from(value: SSAValue, whole: SSAValue, buffers: Buffers) -> tensor.ExtractSliceOp | None:
    """The slice of `whole` whose buffer a value has, because it was computed in place."""
    if not buffers.same_group(value, whole):
        return None
    from .....dialects.linalg import StructuredOp

    while True:
        owner = value.owner
        if isinstance(owner, tensor.ExtractSliceOp):
            return owner if owner.source is whole else None
        if not isinstance(owner, StructuredOp) or len(owner.outputs) != 1:
            return None
        value = owner.outputs[0]


def _extract(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, tensor.ExtractOp)
    load = memref.LoadOp.get(buffers[operation.tensor], operation.indices)
    load.results[0].name_hint = operation.result.name_hint
    insert_before(operation, load)
    operation.result.replace_all_uses_with(load.results[0])


def _insert(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, tensor.InsertOp)
    buffer = buffers.destination(operation, 1, operation.result)
    insert_before(operation, memref.StoreOp.get(operation.scalar, buffer, operation.indices))


def _dim(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, tensor.DimOp)
    dim = memref.DimOp(buffers[operation.source], operation.index)
    dim.result.name_hint = operation.result.name_hint
    insert_before(operation, dim)
    operation.result.replace_all_uses_with(dim.result)


def _view(name: type[Operation]) -> Callable[[Operation, Buffers], None]:
    """The operation of memref that is the same view of a buffer."""

    def rewrite(operation: Operation, buffers: Buffers) -> None:
        source, *others = operation.operands
        (result,) = operation.results
        view = name.create(
            operands=[buffers[source], *others],
            result_types=[buffer_type(result)],
            properties=operation.properties,
        )
        insert_before(operation, view)
        buffers.share(result, source, view.results[0])

    return rewrite


def _from_elements(operation: Operation, buffers: Buffers) -> None:
    (result,) = operation.results
    kind = buffer_type(result)
    buffer = buffers.allocate(operation, kind, [], result.name_hint)
    for number, element in enumerate(operation.operands):
        subscripts: list[AffineExpr] = []
        rest = number
        for extent in reversed(kind.get_shape()):
            subscripts.insert(0, AffineExpr.constant(rest % extent))
            rest //= extent
        place = AffineMapAttr(AffineMap(0, 0, tuple(subscripts)))
        insert_before(operation, StoreOp(element, buffer, (), place))
    buffers.add(result, buffer, operation.parent)


def _fill(anchor: Operation, buffer: SSAValue, value: SSAValue) -> None:
    variables, end = loop_nest(anchor, sizes_of(anchor, buffer))
    identity = AffineMapAttr(AffineMap.identity(len(variables)))
    insert_before(end, StoreOp(value, buffer, variables, identity))


def _splat(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, tensor.SplatOp)
    (result,) = operation.results
    buffer = buffers.allocate(
        operation, buffer_type(result), list(operation.dynamicSizes), result.name_hint
    )
    _fill(operation, buffer, operation.input)
    buffers.add(result, buffer, operation.parent)


def _pad(operation: Operation, buffers: Buffers) -> None:
    """Fills the result, and copies the source into the middle of it."""
    assert isinstance(operation, tensor.PadOp)
    kind = buffer_type(operation.result)
    if DYNAMIC_INDEX in kind.get_shape():
        raise SourceError.at(operation, "'tensor.pad' to a size that is not known")
    buffer = buffers.allocate(operation, kind, [], operation.result.name_hint)
    _compute(operation, operation.region.block, kind.get_shape(), buffer)
    low = iter(operation.low)
    offsets: list[Size] = [
        next(low) if each == DYNAMIC_INDEX else each for each in operation.static_low.get_values()
    ]
    _copy_to(operation, buffers[operation.source], buffer, offsets)
    buffers.add(operation.result, buffer, operation.parent)


def _compute(operation: Operation, block: Block, sizes: Sequence[Size], buffer: SSAValue) -> None:
    """Stores what a block yields for each element of a buffer."""
    variables, end = loop_nest(operation, sizes)
    for argument, variable in zip(block.args, variables, strict=True):
        argument.replace_all_uses_with(variable)
    last = block.last_op
    assert isinstance(last, tensor.YieldOp)
    (value,) = last.operands
    move_before(end, block, last)
    identity = AffineMapAttr(AffineMap.identity(len(variables)))
    insert_before(end, StoreOp(value, buffer, variables, identity))


def _generate(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, GenerateOp)
    kind, extents = buffer_type(operation.result), list(operation.dynamic_extents)
    buffer = buffers.allocate(operation, kind, extents, operation.result.name_hint)
    given = iter(extents)
    sizes: list[Size] = [
        next(given) if each == DYNAMIC_INDEX else each for each in kind.get_shape()
    ]
    _compute(operation, operation.body.block, sizes, buffer)
    buffers.add(operation.result, buffer, operation.parent)


def _concat(operation: Operation, buffers: Buffers) -> None:
    assert isinstance(operation, tensor.ConcatOp)
    (result,) = operation.results
    kind = buffer_type(result)
    if DYNAMIC_INDEX in kind.get_shape():
        raise SourceError.at(operation, "'tensor.concat' to a size that is not known")
    buffer = buffers.allocate(operation, kind, [], result.name_hint)
    offsets: list[Size] = [0] * kind.get_num_dims()
    along = int(operation.dim.value.data)
    for operand in operation.operands:
        extent = buffer_type(operand).get_shape()[along]
        before = offsets[along]
        if extent == DYNAMIC_INDEX or not isinstance(before, int):
            raise SourceError.at(operation, "'tensor.concat' of sizes that are not known")
        _copy_to(operation, buffers[operand], buffer, offsets)
        offsets[along] = before + extent
    buffers.add(result, buffer, operation.parent)


def _copy_to(
    anchor: Operation, source: SSAValue, destination: SSAValue, offsets: list[Size]
) -> None:
    """Copies a buffer to a part of another one that starts at `offsets`."""
    variables, end = loop_nest(anchor, sizes_of(anchor, source))
    rank = len(variables)
    dims = [AffineExpr.dimension(n) for n in range(rank)]
    load = LoadOp(source, variables, AffineMapAttr(AffineMap.identity(rank)))
    symbols: list[SSAValue] = []
    moved: list[AffineExpr] = []
    for dim, offset in zip(dims, offsets, strict=True):
        if isinstance(offset, int):
            moved.append(dim + offset)
        else:
            moved.append(dim + AffineExpr.symbol(len(symbols)))
            symbols.append(offset)
    function = AffineMapAttr(AffineMap(rank, len(symbols), tuple(moved)))
    insert_before(end, load, StoreOp(load.result, destination, [*variables, *symbols], function))


def _to_tensor(operation: Operation, buffers: Buffers) -> None:
    buffers.add(operation.results[0], operation.operands[0], None)


def _to_buffer(operation: Operation, buffers: Buffers) -> None:
    operation.results[0].replace_all_uses_with(buffers[operation.operands[0]])


def _materialize(operation: Operation, buffers: Buffers) -> None:
    source, destination = operation.operands
    if destination in buffers:
        raise SourceError.at(operation, "a tensor is materialised in a tensor")
    copy_elements(operation, buffers[source], destination)


TENSOR_OPERATIONS: dict[str, Callable[[Operation, Buffers], None]] = {
    "bufferization.alloc_tensor": _alloc_tensor,
    "bufferization.materialize_in_destination": _materialize,
    "bufferization.to_buffer": _to_buffer,
    "bufferization.to_tensor": _to_tensor,
    "tensor.cast": _view(memref.CastOp),
    "tensor.collapse_shape": _view(memref.CollapseShapeOp),
    "tensor.concat": _concat,
    "tensor.dim": _dim,
    "tensor.empty": _empty,
    "tensor.expand_shape": _view(memref.ExpandShapeOp),
    "tensor.extract": _extract,
    "tensor.extract_slice": _extract_slice,
    "tensor.from_elements": _from_elements,
    "tensor.generate": _generate,
    "tensor.insert": _insert,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.splat": _splat,
}
"""By name; `arith.constant` and elementwise operations are apart."""
