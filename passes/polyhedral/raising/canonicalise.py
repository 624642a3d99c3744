"""Canonicalises scf and memref operations to the affine core."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.affine import ParallelOp
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    IndexType,
    IntegerAttr,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
)

from ....dialects.affine import ForOp, IfOp, LoadOp, StoreOp, YieldOp
from ....dialects.errors import SourceError
from ..fused_products import keep_separate
from ..reduction_kinds import reduction_kind
from .affine_min_max import split_extremum
from .applied_data import expand_applied_data
from .cells import Cell, as_index, insert_before, result_cell
from .chosen_subscripts import split_chosen_subscripts
from .if_conversion import convert_branch, is_on_data
from .linearize_index import apply_delinearize, apply_linearize
from .narrow_floats import widen_operation
from .opaque_regions import outline_opaque_regions

_Rewrites = dict[str, Callable[[Operation], None]]

_AFFINE_HINT = "use arith.select for choices that depend on data"


def make_affine(function: func.FuncOp) -> None:
    """Rewrites in place, and outlines what affine cannot say; raises SourceError."""
    # Accesses and indices first, as the other rewrites look at them.
    _rewrite(function, _ACCESSES)
    split_chosen_subscripts(function)
    expand_applied_data(function)
    outline_opaque_regions(function)
    _rewrite(function, _STRUCTURES)


def _rewrite(function: func.FuncOp, rewrites: _Rewrites) -> None:
    for operation in list(function.walk()):
        if (rewrite := rewrites.get(operation.name)) is not None:
            rewrite(operation)


def _replace(old: Operation, new: Operation) -> None:
    insert_before(old, new)
    new.attributes |= old.attributes
    for old_result, new_result in zip(old.results, new.results, strict=True):
        new_result.name_hint = old_result.name_hint
        old_result.replace_all_uses_with(new_result)
    old.detach()
    old.erase()


def _symbols(count: int) -> AffineMapAttr:
    """`()[s0, s1] -> (s0, s1)`."""
    return AffineMapAttr(AffineMap(0, count, tuple(AffineExpr.symbol(n) for n in range(count))))


def _load(operation: Operation) -> None:
    assert isinstance(operation, memref.LoadOp)
    subscripts = list(operation.indices)
    _replace(operation, LoadOp(operation.memref, subscripts, _symbols(len(subscripts))))


def _store(operation: Operation) -> None:
    assert isinstance(operation, memref.StoreOp)
    subscripts = list(operation.indices)
    new = StoreOp(operation.value, operation.memref, subscripts, _symbols(len(subscripts)))
    _replace(operation, new)


def _end_with_affine_yield(region: Region) -> None:
    end = region.block.last_op
    assert isinstance(end, scf.YieldOp)
    _replace(end, YieldOp.get(*end.arguments))


def _scf_for(operation: Operation) -> None:
    assert isinstance(operation, scf.ForOp)
    step = operation.step.owner
    if not isinstance(operation.lb.type, IndexType):
        raise SourceError.at(operation, "the loop does not count in type index")
    if not (
        isinstance(step, arith.ConstantOp)
        and isinstance(step.value, IntegerAttr)
        and step.value.value.data > 0
    ):
        raise SourceError.at(
            operation,
            "the step of the loop is not a positive constant",
            hint="count with step 1 and multiply the induction variable",
        )
    _end_with_affine_yield(operation.body)
    initial = list(operation.iter_args)
    new = ForOp.from_region(
        [operation.lb],
        [operation.ub],
        initial,
        [value.type for value in initial],
        _symbols(1),
        _symbols(1),
        operation.detach_region(0),
        step.value.value.data,
    )
    _replace(operation, new)


def _scf_if(operation: Operation) -> None:
    assert isinstance(operation, scf.IfOp)
    if is_on_data(operation):
        convert_branch(operation)
        return
    constraints: list[AffineConstraintExpr] = []
    operands: list[SSAValue] = []
    swapped = _conjunction(operation, operation.cond, constraints, operands)
    regions = [operation.detach_region(0), operation.detach_region(0)]
    for region in regions:
        if region.blocks:
            _end_with_affine_yield(region)
    if swapped:
        regions.reverse()
        if not regions[0].blocks:
            regions[0].add_block(Block([YieldOp.get()]))
    condition = AffineSetAttr(AffineSet(0, len(operands), tuple(constraints)))
    new = IfOp.create(
        operands=operands,
        result_types=operation.result_types,
        properties={"condition": condition},
        regions=regions,
    )
    _replace(operation, new)


def _difference(operands: list[SSAValue], left: SSAValue, right: SSAValue) -> AffineExpr:
    """`right - left` over symbols, which are appended to `operands`."""
    number = len(operands)
    operands += [left, right]
    return AffineExpr.symbol(number + 1) - AffineExpr.symbol(number)


# By predicate of arith.cmpi: constraint on `right - left`, as kind, factor and constant.
_COMPARISONS = {
    0: (AffineConstraintKind.eq, 1, 0),
    2: (AffineConstraintKind.ge, 1, -1),
    3: (AffineConstraintKind.ge, 1, 0),
    4: (AffineConstraintKind.ge, -1, -1),
    5: (AffineConstraintKind.ge, -1, 0),
}
_NOT_EQUAL = 1


def _conjunction(
    operation: scf.IfOp,
    condition: SSAValue,
    constraints: list[AffineConstraintExpr],
    operands: list[SSAValue],
) -> bool:
    """Collects the comparisons that `condition` joins by `and`; True where it is their opposite."""
    owner = condition.owner
    if isinstance(owner, arith.AndIOp):
        parts = [
            _conjunction(operation, part, constraints, operands) for part in (owner.lhs, owner.rhs)
        ]
        if not any(parts):
            return False
    elif isinstance(owner, arith.CmpiOp):
        predicate = owner.predicate.value.data
        opposite = predicate == _NOT_EQUAL
        if opposite or predicate in _COMPARISONS:
            kind, factor, constant = _COMPARISONS[0 if opposite else predicate]
            left, right = (as_index(side, operation) for side in (owner.lhs, owner.rhs))
            difference = _difference(operands, left, right) * factor + constant
            constraints.append(AffineConstraintExpr(kind, difference, AffineExpr.constant(0)))
            return opposite
    raise SourceError.at(
        operation, "the condition is no conjunction of signed comparisons", hint=_AFFINE_HINT
    )


def _parallel(operation: Operation) -> None:
    assert isinstance(operation, ParallelOp)
    cells = _reduce_in_memory(operation)
    block = operation.body.block
    lower_map, upper_map = operation.lowerBoundsMap.data, operation.upperBoundsMap.data
    split = lower_map.num_dims + lower_map.num_symbols
    bounds = [
        _groups(lower_map, operation.lowerBoundsGroups.get_values()),
        _groups(upper_map, operation.upperBoundsGroups.get_values()),
    ]
    operands = list(operation.map_operands)
    inner = list(block.ops)
    for op in inner:
        op.detach()
    steps = [step.value.data for step in operation.steps.data]
    for lower, upper, step, variable in reversed(
        list(zip(*bounds, steps, block.args, strict=True))
    ):
        level = Block(arg_types=[IndexType()])
        level.args[0].name_hint = variable.name_hint
        level.args[0].location = variable.location
        variable.replace_all_uses_with(level.args[0])
        level.add_ops(inner)
        loop = ForOp.from_region(
            operands[:split], operands[split:], [], [], lower, upper, Region(level), step
        )
        loop.location = operation.location
        inner = [loop, YieldOp.get()]
    insert_before(operation, inner[0])
    for result, cell in zip(operation.results, cells, strict=True):
        load = cell.load(result.name_hint)
        insert_before(operation, load)
        result.replace_all_uses_with(load.result)
    operation.detach()
    operation.erase()


def _groups(bounds: AffineMap, sizes: tuple[int, ...]) -> list[AffineMapAttr]:
    results = iter(bounds.results)
    return [
        AffineMapAttr(
            AffineMap(
                bounds.num_dims, bounds.num_symbols, tuple(next(results) for _ in range(size))
            )
        )
        for size in sizes
    ]


def _reduce_in_memory(operation: ParallelOp) -> list[Cell]:
    """Combines the yielded values in memory, which starts with the neutral element."""
    end = operation.body.block.last_op
    assert end is not None
    cells: list[Cell] = []
    values = list(end.operands)
    for number, (name, value) in enumerate(zip(operation.reductions.data, values, strict=True)):
        result = operation.results[number]
        kind = reduction_kind(operation, name, result.type)
        cell = result_cell(operation, number, result.name_hint)
        neutral = arith.ConstantOp(kind.neutral)
        insert_before(operation, neutral, cell.store(neutral.result))
        load = cell.load()
        combined = kind.combine(load.result, value)
        insert_before(end, load, *combined, cell.store(combined[-1].results[0]))
        for step in combined:
            keep_separate(step)
            widen_operation(step)
        cells.append(cell)
    end.operands = ()
    return cells


_ACCESSES: _Rewrites = {
    "affine.delinearize_index": apply_delinearize,
    "affine.linearize_index": apply_linearize,
    "affine.max": split_extremum,
    "affine.min": split_extremum,
    "memref.load": _load,
    "memref.store": _store,
}

_STRUCTURES: _Rewrites = {"affine.parallel": _parallel, "scf.for": _scf_for, "scf.if": _scf_if}
