"""scf.parallel and scf.forall -> scf.for, one loop for each dimension.

%s = scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> f32 {
  scf.reduce(%v : f32) { ^bb0(%l: f32, %r: f32): ... scf.reduce.return %t }
}
->  %s = scf.for %i = %a to %b step %c iter_args(%l = %x) -> (f32) { ... scf.yield %t }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from .....dialects.errors import SourceError
from .....dialects.scf import ForallOp, InParallelOp
from ..cells import insert_before
from .emission import erase, index_value, move_before


def expand_parallel(operation: Operation) -> None:
    """Replaces scf.parallel; the iterations of reductions run in order."""
    assert isinstance(operation, scf.ParallelOp)
    bounds = list(zip(operation.lowerBound, operation.upperBound, operation.step, strict=True))
    loops, carried = _nest(operation, bounds, operation.initVals)
    reduce = operation.body.block.last_op
    assert isinstance(reduce, scf.ReduceOp)
    end = loops[-1].body.block.last_op
    assert end is not None
    block = operation.body.block
    for argument, loop in zip(block.args, loops, strict=True):
        _rename(argument, loop.body.block.args[0])
    combined: list[SSAValue] = []
    reductions = list(zip(reduce.reductions, reduce.args, carried, strict=True))
    reduce.detach()
    move_before(end, block, None)
    for region, value, old in reductions:
        inner = region.block
        inner.args[0].replace_all_uses_with(old)
        inner.args[1].replace_all_uses_with(value)
        last = inner.last_op
        assert isinstance(last, scf.ReduceReturnOp)
        combined.append(last.result)
        move_before(end, inner, last)
    reduce.erase()
    end.operands = combined
    for result, new in zip(operation.results, loops[0].results, strict=True):
        result.replace_all_uses_with(new)
    erase(operation)


def expand_forall(operation: Operation) -> None:
    """Replaces scf.forall on memrefs."""
    assert isinstance(operation, ForallOp)
    bounds = [
        (index_value(operation, lower), index_value(operation, upper), index_value(operation, step))
        for lower, upper, step in operation.bounds()
    ]
    block = operation.body.block
    end = block.last_op
    if operation.outputs or not isinstance(end, InParallelOp) or not bounds:
        raise SourceError.at(operation, "'scf.forall' with shared outputs is not supported here")
    loops, _ = _nest(operation, bounds, ())
    last = loops[-1].body.block.last_op
    assert last is not None
    for argument, loop in zip(block.args, loops, strict=True):
        _rename(argument, loop.body.block.args[0])
    move_before(last, block, end)
    erase(operation)


def _rename(old: SSAValue, new: SSAValue) -> None:
    new.name_hint = old.name_hint
    old.replace_all_uses_with(new)


def _nest(
    anchor: Operation,
    bounds: Sequence[tuple[SSAValue, SSAValue, SSAValue]],
    initial: Sequence[SSAValue],
) -> tuple[list[scf.ForOp], list[SSAValue]]:
    """Loops in each other that hand values on; those that the innermost one starts with."""
    types = [value.type for value in initial]
    loops: list[scf.ForOp] = []
    carried: list[SSAValue] = list(initial)
    for lower, upper, step in bounds:
        block = Block([scf.YieldOp(*carried)], arg_types=[IndexType(), *types])
        loop = scf.ForOp(lower, upper, step, carried, Region(block))
        if loops:
            end = loops[-1].body.block.last_op
            assert end is not None
            insert_before(end, loop)
            end.operands = loop.results
        else:
            insert_before(anchor, loop)
        last = block.last_op
        assert last is not None
        last.location = anchor.location
        loops.append(loop)
        carried = [*block.args[1:]]
        last.operands = carried
    return loops, carried
