"""Vectors -> tensors, whose elements are computed one by one.

    %v = vector.load %A[%i] : memref<?xf32>, vector<8xf32>
    ->  %v = tensor.generate { ^bb0(%l: index): load %A[%i + %l] } : tensor<8xf32>

Schedules decide what becomes a vector; one that a program has is a small array.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from xdsl.dialects import func, math, tensor, vector
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    MemRefType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from .....dialects.errors import SourceError
from .....dialects.vector import ConstantMaskOp
from .....dialects.vector_shapes import (
    ContractOp,
    MultiReductionOp,
    OuterProductOp,
    ShapeCastOp,
    TransposeOp,
)
from ..cells import insert_before
from .emission import apply, erase, index_value
from .lanes import (
    Lanes,
    all_of,
    choose,
    combine,
    compare,
    element_of,
    fold,
    generate,
    neutral,
    tensor_type,
)
from .printing import expand_print
from .vector_accesses import ACCESSES, WHOLE_VECTORS


def has_vectors(operation: Operation) -> bool:
    """Whether an operation is of vectors."""
    return operation.name.startswith("vector.") or any(
        isinstance(value.type, VectorType) for value in (*operation.results, *operation.operands)
    )


def expand_vectors(function: func.FuncOp) -> None:
    """Rewrites a function in place; raises SourceError for vectors whose size is not known."""
    operations = [each for each in function.walk() if has_vectors(each)]
    if not operations:
        return
    loads_and_stores = [each for each in operations if each.name in WHOLE_VECTORS]
    values = chain(
        (
            argument
            for each in function.walk()
            for region in each.regions
            for block in region.blocks
            for argument in block.args
        ),
        (result for each in function.walk() for result in each.results),
    )
    for value in list(values):
        kind = value.type
        if isa(kind, VectorType[Attribute]):
            if any(kind.get_scalable_dims()):
                raise SourceError.at(
                    value,
                    f"the size of {kind} is known only when it runs",
                    hint="write the scalar program; the schedule makes vectors",
                )
            Rewriter.replace_value_with_new_type(value, TensorType(kind.element_type, kind.shape))
        elif isa(kind, MemRefType[Attribute]) and isa(kind.element_type, VectorType[Attribute]):
            Rewriter.replace_value_with_new_type(value, _of_numbers(kind, kind.element_type))
    end = function.body.block.last_op
    assert end is not None
    function.properties["function_type"] = FunctionType.from_lists(
        list(function.body.block.arg_types), [value.type for value in end.operands]
    )
    for operation in operations:
        rewrite = _OPERATIONS.get(operation.name)
        if operation in loads_and_stores:
            rewrite = WHOLE_VECTORS[operation.name]
        if rewrite is not None:
            rewrite(operation)
            erase(operation)
        elif operation.name.startswith("vector."):
            raise SourceError.at(operation, f"'{operation.name}' is not supported")


def _of_numbers(kind: MemRefType[Attribute], element: VectorType[Attribute]) -> MemRefType:
    """The type of a memref of vectors, whose lanes are more dimensions."""
    shape = [*kind.get_shape(), *element.get_shape()]
    return MemRefType(element.element_type, shape, memory_space=kind.memory_space)


def _broadcast(operation: Operation) -> None:
    assert isinstance(operation, vector.BroadcastOp)
    source = operation.source
    shape = tensor_type(source).get_shape() if isinstance(source.type, TensorType) else ()

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        own = lanes[len(lanes) - len(shape) :]
        zero = index_value(anchor, 0) if 1 in shape else None
        return element_of(
            anchor,
            source,
            [zero if n == 1 and zero else lane for n, lane in zip(shape, own, strict=True)],
        )

    generate(operation, element)


def _position(anchor: Operation, operation: vector.ExtractOp | vector.InsertOp) -> list[SSAValue]:
    dynamic = iter(operation.dynamic_position)
    return [
        next(dynamic) if each == DYNAMIC_INDEX else index_value(anchor, each)
        for each in operation.static_position.get_values()
    ]


def _extract(operation: Operation) -> None:
    assert isinstance(operation, vector.ExtractOp)
    source, result = operation.vector, operation.result
    if not isinstance(result.type, TensorType):
        value = element_of(operation, source, _position(operation, operation))
        result.replace_all_uses_with(value)
        return
    first = _position(operation, operation)
    generate(operation, lambda anchor, lanes: element_of(anchor, source, [*first, *lanes]))


def _insert(operation: Operation) -> None:
    assert isinstance(operation, vector.InsertOp)
    first, source, dest = _position(operation, operation), operation.source, operation.dest
    if not isinstance(source.type, TensorType):
        new = tensor.InsertOp(source, dest, first)
        insert_before(operation, new)
        operation.result.replace_all_uses_with(new.result)
        return

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        here = [compare(anchor, "eq", *pair) for pair in zip(lanes, first, strict=False)]
        return choose(
            anchor,
            all_of(anchor, here),
            lambda end: element_of(end, source, lanes[len(first) :]),
            lambda end: element_of(end, dest, lanes),
        )

    generate(operation, element)


def _fma(operation: Operation) -> None:
    assert isinstance(operation, vector.FMAOp)
    new = math.FmaOp.create(
        operands=operation.operands,
        result_types=[operation.res.type],
        properties={"fastmath": FastMathFlagsAttr("none")},
    )
    insert_before(operation, new)
    operation.res.replace_all_uses_with(new.results[0])


def _step(operation: Operation) -> None:
    generate(operation, lambda anchor, lanes: lanes[0])


def _mask(operation: Operation) -> None:
    """The lanes below given sizes."""
    if isinstance(operation, ConstantMaskOp):
        sizes: list[SSAValue | int] = list(operation.mask_dim_sizes.get_values())
    else:
        sizes = list(operation.operands)

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        below = [compare(anchor, "slt", *pair) for pair in zip(lanes, sizes, strict=True)]
        result = all_of(anchor, below)
        return compare(anchor, "eq", *[index_value(anchor, 0)] * 2) if result is None else result

    generate(operation, element)


def _shuffle(operation: Operation) -> None:
    assert isinstance(operation, vector.ShuffleOp)
    one, other = operation.v1, operation.v2
    order = list(operation.mask.get_values())
    width = (*tensor_type(one).get_shape(), 1)[0]
    if len(tensor_type(operation.result).get_shape()) != 1:
        raise SourceError.at(operation, "'vector.shuffle' of several dimensions is not supported")
    elements: list[SSAValue] = []
    for number in order:
        source, lane = (one, max(number, 0)) if number < width else (other, number - width)
        has_lanes = bool(tensor_type(source).get_shape())
        lanes = [index_value(operation, lane)] if has_lanes else []
        elements.append(element_of(operation, source, lanes))
    new = tensor.FromElementsOp.create(operands=elements, result_types=[operation.result.type])
    insert_before(operation, new)
    operation.result.replace_all_uses_with(new.results[0])


def _transpose(operation: Operation) -> None:
    assert isinstance(operation, TransposeOp)
    order, source = list(operation.permutation.get_values()), operation.vector
    generate(
        operation,
        lambda anchor, lanes: element_of(
            anchor, source, [lanes[order.index(n)] for n in range(len(order))]
        ),
    )


def _shape_cast(operation: Operation) -> None:
    assert isinstance(operation, ShapeCastOp)
    source, shape = operation.source, tensor_type(operation.result).get_shape()
    wanted = tensor_type(source).get_shape()

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        linear: AffineExpr = AffineExpr.constant(0)
        for number, extent in enumerate(shape):
            linear = linear * extent + AffineExpr.dimension(number)
        parts: list[AffineExpr] = []
        for position, extent in reversed(list(enumerate(wanted))):
            parts.insert(0, linear % extent if position else linear)
            linear = linear // extent
        maps = [AffineMap(len(shape), 0, (each,)) for each in parts]
        return element_of(anchor, source, [apply(anchor, each, lanes) for each in maps])

    generate(operation, element)


def _reduction(operation: Operation) -> None:
    assert isinstance(operation, vector.ReductionOp)
    source, kind, start = operation.vector, operation.kind, operation.acc
    if start is None:
        zero = index_value(operation, 0)
        start = neutral(operation, kind, element_of(operation, source, [zero]))
    operation.dest.replace_all_uses_with(
        fold(
            operation,
            tensor_type(source).get_shape(),
            start,
            lambda end, lanes, value: combine(end, kind, value, element_of(end, source, lanes)),
        )
    )


def _result(operation: Operation, element: Callable[[Operation, Lanes], SSAValue]) -> None:
    """A result that is a vector or a number."""
    (result,) = operation.results
    if isinstance(result.type, TensorType):
        generate(operation, element)
    else:
        result.replace_all_uses_with(element(operation, ()))


def _multi_reduction(operation: Operation) -> None:
    assert isinstance(operation, MultiReductionOp)
    source, acc, kind = operation.source, operation.acc, operation.kind
    shape, reduced = tensor_type(source).get_shape(), operation.reduction_dims.get_values()

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        def step(end: Operation, inner: Lanes, value: SSAValue) -> SSAValue:
            own, others = iter(lanes), iter(inner)
            subscripts = [next(others if n in reduced else own) for n in range(len(shape))]
            return combine(end, kind, value, element_of(end, source, subscripts))

        return fold(anchor, [shape[n] for n in reduced], element_of(anchor, acc, lanes), step)

    _result(operation, element)


def _product(anchor: Operation, one: SSAValue, other: SSAValue) -> SSAValue:
    return combine(anchor, vector.CombiningKindAttr(vector.CombiningKindFlag.MUL), one, other)


def _outer_product(operation: Operation) -> None:
    assert isinstance(operation, OuterProductOp)
    lhs, rhs, acc, kind = operation.lhs, operation.rhs, operation.acc, operation.kind

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        product = _product(
            anchor, element_of(anchor, lhs, lanes[:1]), element_of(anchor, rhs, lanes[1:])
        )
        if acc is None:
            return product
        return combine(anchor, kind, element_of(anchor, acc, lanes), product)

    generate(operation, element)


def _contract(operation: Operation) -> None:
    assert isinstance(operation, ContractOp)
    maps, kind, acc = operation.maps, operation.kind, operation.acc
    factors = (operation.lhs, operation.rhs)
    if len({_element(each) for each in (*factors, acc)}) > 1:
        raise SourceError.at(operation, "'vector.contract' of different types is not supported")
    extents: dict[int, int] = {}
    for value, function in zip(factors, maps, strict=False):
        shape = tensor_type(value).get_shape()
        for extent, result in zip(shape, function.data.results, strict=True):
            extents[min(result.used_dims())] = extent
    kept = [min(each.used_dims()) for each in maps[2].data.results]
    reduced = sorted(extents.keys() - set(kept))

    def element(anchor: Operation, lanes: Lanes) -> SSAValue:
        def step(end: Operation, inner: Lanes, value: SSAValue) -> SSAValue:
            loops = dict(zip([*kept, *reduced], [*lanes, *inner], strict=True))
            one, other = (
                element_of(end, factor, [loops[min(n.used_dims())] for n in function.data.results])
                for factor, function in zip(factors, maps, strict=False)
            )
            return combine(end, kind, value, _product(end, one, other))

        return fold(anchor, [extents[n] for n in reduced], element_of(anchor, acc, lanes), step)

    _result(operation, element)


def _element(value: SSAValue) -> Attribute:
    return tensor_type(value).element_type if isinstance(value.type, TensorType) else value.type


_OPERATIONS: dict[str, Callable[[Operation], None]] = {
    **ACCESSES,
    "vector.broadcast": _broadcast,
    "vector.constant_mask": _mask,
    "vector.contract": _contract,
    "vector.create_mask": _mask,
    "vector.extract": _extract,
    "vector.fma": _fma,
    "vector.insert": _insert,
    "vector.multi_reduction": _multi_reduction,
    "vector.outerproduct": _outer_product,
    "vector.print": expand_print,
    "vector.reduction": _reduction,
    "vector.shape_cast": _shape_cast,
    "vector.shuffle": _shuffle,
    "vector.step": _step,
    "vector.transpose": _transpose,
}
