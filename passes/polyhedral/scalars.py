"""SSA values that cross control flow, demoted to rank-0 local memrefs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, memref
from xdsl.dialects.affine import ForOp, IfOp, YieldOp
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i32,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.utils.hints import isa

from ...dialects.affine import LoadOp, StoreOp
from ...dialects.errors import SourceError

_NO_SUBSCRIPTS = AffineMapAttr(AffineMap(0, 0, ()))


def insert_before(anchor: Operation, *operations: Operation) -> None:
    """Inserts operations, which count as written where `anchor` is."""
    assert anchor.parent is not None
    for operation in operations:
        operation.location = anchor.location
        anchor.parent.insert_op_before(operation, anchor)


def insert_after(anchor: Operation, operation: Operation) -> None:
    """Inserts an operation, which counts as written where `anchor` is."""
    assert anchor.parent is not None
    operation.location = anchor.location
    anchor.parent.insert_op_after(operation, anchor)


def scalar_alloca(element_type: Attribute, hint: str | None) -> memref.AllocaOp:
    """An uninitialised `memref<element_type>`, named after what it holds."""
    operation = memref.AllocaOp.get(element_type, shape=[])
    operation.memref.name_hint = hint or "value"
    return operation


def scalar_store(value: SSAValue, scalar: SSAValue) -> StoreOp:
    """`affine.store value, scalar[]`."""
    return StoreOp(value, scalar, (), _NO_SUBSCRIPTS)


def scalar_load(scalar: SSAValue, hint: str | None = None) -> LoadOp:
    """`affine.load scalar[]`."""
    operation = LoadOp(scalar, (), _NO_SUBSCRIPTS)
    operation.result.name_hint = hint
    return operation


def define_undefined(function: func.FuncOp) -> None:
    """Makes undefined scalars zero: front ends initialise local variables with them."""
    for operation in list(function.walk()):
        if operation.name == "llvm.mlir.undef":
            undefined = operation.results[0]
            type_ = undefined.type
            if isa(type_, AnyFloat):
                constant = arith.ConstantOp(FloatAttr(0.0, type_))
            elif isa(type_, IntegerType | IndexType):
                constant = arith.ConstantOp(IntegerAttr(0, type_))
            else:
                continue
            constant.result.name_hint = undefined.name_hint
            insert_before(operation, constant)
            undefined.replace_all_uses_with(constant.result)
            operation.detach()
            operation.erase()


def demote_value(value: SSAValue) -> None:
    """Keeps the result of an operation in memory: all uses read it from there."""
    owner = value.owner
    assert isinstance(owner, Operation)
    scalar = scalar_alloca(value.type, value.name_hint)
    insert_before(owner, scalar)
    load = scalar_load(scalar.memref, value.name_hint)
    insert_after(owner, load)
    value.replace_all_uses_with(load.result)
    insert_before(load, scalar_store(value, scalar.memref))


def demote_carried_values(function: func.FuncOp) -> None:
    """Demotes iter_args of affine.for and results of affine.if.

    `%r = affine.for ... iter_args(%a = %x) { ... yield %y }` -> `alloca %s; store %x, %s;
    affine.for ... { %a = load %s; ...; store %y, %s }; %r = load %s`
    """
    for operation in list(function.walk()):
        match operation:
            case ForOp() if operation.results:
                _demote_loop(operation)
            case IfOp() if operation.results:
                _demote_condition(operation)
            case _:
                pass


def _demote_loop(loop: ForOp) -> None:
    _refuse_memrefs(loop)
    block = loop.body.block
    variable, *carried = block.args
    first = block.first_op
    assert first is not None
    scalars: list[SSAValue] = []
    for argument, initial in zip(carried, loop.inits, strict=True):
        scalar = scalar_alloca(argument.type, argument.name_hint)
        insert_before(loop, scalar, scalar_store(initial, scalar.memref))
        load = scalar_load(scalar.memref, argument.name_hint)
        insert_before(first, load)
        argument.replace_all_uses_with(load.result)
        scalars.append(scalar.memref)
    for argument in reversed(carried):
        block.erase_arg(argument)
    _demote_yield(loop.body, scalars)
    bounds = (len(loop.lowerBoundOperands), len(loop.upperBoundOperands))
    operands = loop.operands[: sum(bounds)]
    segments = DenseArrayBase.from_list(i32, [*bounds, 0])
    _replace(
        loop,
        type(loop).create(
            operands=operands,
            properties={**loop.properties, "operandSegmentSizes": segments},
            attributes=loop.attributes,
            regions=[loop.detach_region(0)],
        ),
        scalars,
    )
    del variable


def _demote_condition(condition: IfOp) -> None:
    _refuse_memrefs(condition)
    scalars: list[SSAValue] = []
    for result in condition.results:
        scalar = scalar_alloca(result.type, result.name_hint)
        insert_before(condition, scalar)
        scalars.append(scalar.memref)
    for region in condition.regions:
        _demote_yield(region, scalars)
    regions = [condition.detach_region(0), condition.detach_region(0)]
    new = type(condition).create(
        operands=condition.operands,
        properties=condition.properties,
        attributes=condition.attributes,
        regions=regions,
    )
    _replace(condition, new, scalars)


def _demote_yield(region: Region, scalars: Sequence[SSAValue]) -> None:
    end = region.block.last_op
    assert isinstance(end, YieldOp)
    for value, scalar in zip(end.arguments, scalars, strict=True):
        insert_before(end, scalar_store(value, scalar))
    end.operands = ()


def _replace(old: Operation, new: Operation, scalars: Sequence[SSAValue]) -> None:
    insert_before(old, new)
    for result, scalar in zip(old.results, scalars, strict=True):
        load = scalar_load(scalar, result.name_hint)
        insert_before(old, load)
        result.replace_all_uses_with(load.result)
    old.detach()
    old.erase()


def _refuse_memrefs(operation: Operation) -> None:
    if any(isinstance(result.type, MemRefType) for result in operation.results):
        raise SourceError.at(
            operation,
            "a memref is passed on by control flow",
            hint="access one memref directly in each branch or iteration",
        )


def demote_results(function: func.FuncOp) -> tuple[SSAValue, ...]:
    """Demotes the scalar results of a function; the memrefs that hold them at its end."""
    block = function.body.block
    end, first = block.last_op, block.first_op
    assert isinstance(end, func.ReturnOp) and first is not None
    scalars: list[SSAValue] = []
    for value in end.arguments:
        if isinstance(value.type, MemRefType):
            raise SourceError.at(
                end, "a memref is returned", hint="take the result as an argument and store to it"
            )
        scalar = scalar_alloca(value.type, f"result{len(scalars)}")
        insert_before(first, scalar)
        insert_before(end, scalar_store(value, scalar.memref))
        scalars.append(scalar.memref)
    loads = [scalar_load(scalar) for scalar in scalars]
    insert_before(end, *loads)
    end.operands = [load.result for load in loads]
    return tuple(scalars)
