"""Scalar demotion: SSA values that cross control flow become memory cells."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func
from xdsl.dialects.affine import ForOp, IfOp, YieldOp
from xdsl.dialects.builtin import (
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
from xdsl.utils.hints import isa

from ....dialects.errors import SourceError
from ....dialects.supported_types import is_scalar
from .cells import Cell, holds, insert_after, insert_before, new_cell, result_cell
from .diagonal_conditions import select_on_diagonal


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


def use_constants(function: func.FuncOp) -> None:
    """Constants of the llvm dialect are those of arith."""
    for operation in list(function.walk()):
        if operation.name != "llvm.mlir.constant":
            continue
        result = operation.results[0]  # the dialect takes long to import, and is rarely met
        if is_scalar(result.type):
            given, kind = operation.properties["value"], result.type
            value: Attribute = given
            if isinstance(given, IntegerAttr) and isa(kind, IntegerType):
                value = IntegerAttr(given.value.data, kind)
            constant = arith.ConstantOp.create(properties={"value": value}, result_types=[kind])
            insert_before(operation, constant)
            constant.results[0].name_hint = result.name_hint
            result.replace_all_uses_with(constant.results[0])
            operation.detach()
            operation.erase()


def demote_value(value: SSAValue) -> None:
    """Keeps the result of an operation in memory: all uses read it from there."""
    owner = value.owner
    assert isinstance(owner, Operation)
    cell = new_cell(value.type, value.name_hint, owner)
    load = cell.load(value.name_hint)
    insert_after(owner, load)
    value.replace_all_uses_with(load.result)
    insert_before(load, cell.store(value))


def demote_carried_values(function: func.FuncOp) -> None:
    """Demotes iter_args of affine.for and results of affine.if.

    `%r = affine.for ... iter_args(%a = %x) { ... yield %y }` -> `alloca %s; store %x, %s;
    affine.for ... { %a = load %s; ...; store %y, %s }; %r = load %s`
    """
    # Outer ones first: what they store in the end can then be where inner ones accumulate.
    for operation in list(function.walk()):
        match operation:
            case ForOp() if operation.results:
                _demote_loop(operation)
            case IfOp() if operation.results and not select_on_diagonal(operation):
                _demote_condition(operation)
            case _:
                pass


def _demote_loop(loop: ForOp) -> None:
    _refuse_memrefs(loop)
    block = loop.body.block
    carried = block.args[1:]
    first = block.first_op
    assert first is not None
    cells: list[Cell] = []
    for number, (argument, initial) in enumerate(zip(carried, loop.inits, strict=True)):
        cell = result_cell(loop, number, argument.name_hint)
        if not holds(cell, initial, loop):
            insert_before(loop, cell.store(initial))
        load = cell.load(argument.name_hint)
        insert_before(first, load)
        argument.replace_all_uses_with(load.result)
        cells.append(cell)
    for argument in reversed(carried):
        block.erase_arg(argument)
    _demote_yield(loop.body, cells)
    bounds = (len(loop.lowerBoundOperands), len(loop.upperBoundOperands))
    segments = DenseArrayBase.from_list(i32, [*bounds, 0])
    new = type(loop).create(
        operands=loop.operands[: sum(bounds)],
        properties={**loop.properties, "operandSegmentSizes": segments},
        attributes=loop.attributes,
        regions=[loop.detach_region(0)],
    )
    _replace(loop, new, cells)


def _demote_condition(condition: IfOp) -> None:
    _refuse_memrefs(condition)
    cells = [
        result_cell(condition, number, result.name_hint)
        for number, result in enumerate(condition.results)
    ]
    for region in condition.regions:
        _demote_yield(region, cells)
    new = type(condition).create(
        operands=condition.operands,
        properties=condition.properties,
        attributes=condition.attributes,
        regions=[condition.detach_region(0), condition.detach_region(0)],
    )
    _replace(condition, new, cells)


def _demote_yield(region: Region, cells: Sequence[Cell]) -> None:
    end = region.block.last_op
    assert isinstance(end, YieldOp)
    for value, cell in zip(end.arguments, cells, strict=True):
        insert_before(end, cell.store(value))
    end.operands = ()


def _replace(old: Operation, new: Operation, cells: Sequence[Cell]) -> None:
    insert_before(old, new)
    for result, cell in zip(old.results, cells, strict=True):
        if not result.uses:
            continue
        load = cell.load(result.name_hint)
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
    cells: list[Cell] = []
    for value in end.arguments:
        if isinstance(value.type, MemRefType):
            raise SourceError.at(
                end, "a memref is returned", hint="take the result as an argument and store to it"
            )
        cell = new_cell(value.type, f"result{len(cells)}", first)
        insert_before(end, cell.store(value))
        cells.append(cell)
    loads = [cell.load() for cell in cells]
    insert_before(end, *loads)
    end.operands = [load.result for load in loads]
    return tuple(cell.memref for cell in cells)
