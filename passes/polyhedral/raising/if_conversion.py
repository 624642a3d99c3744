"""If-conversion: `scf.if` on data as selects.

    scf.if %c {                               %0 = affine.load %A[%i]
      affine.store %x, %A[%i]        ->       %1 = arith.select %c, %x, %0
    }                                         affine.store %1, %A[%i]

Both branches run. What they store is the old value where the condition does not hold, and gathers
then read element 0.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr
from xdsl.ir import Region, SSAValue

from ....dialects.affine import LoadOp, StoreOp
from ..gathers import depends_on_data, is_irregular
from .cells import insert_before


def convert_branch(operation: scf.IfOp) -> None:
    """Puts what the branches do in place of a branch on data."""
    truth = operation.cond
    true = arith.ConstantOp(BoolAttr.from_bool(True))
    opposite = arith.XOrIOp(truth, true.result)
    insert_before(operation, true, opposite)
    chosen = _guarded(operation, operation.true_region, truth)
    otherwise = _guarded(operation, operation.false_region, opposite.result)
    for result, one, other in zip(operation.results, chosen, otherwise, strict=True):
        select = arith.SelectOp(truth, one, other)
        select.results[0].name_hint = result.name_hint
        insert_before(operation, select)
        result.replace_all_uses_with(select.results[0])
    operation.detach()
    operation.erase()


def _guarded(operation: scf.IfOp, region: Region, guard: SSAValue) -> list[SSAValue]:
    """Moves a branch before the operation; returns what it yields."""
    if not region.blocks:
        return []
    block = region.block
    for inner in list(block.walk()):
        if isinstance(inner, StoreOp):
            _guard_store(inner, guard)
        elif isinstance(inner, LoadOp):
            _guard_gather(inner, guard)
    end = block.last_op
    assert isinstance(end, scf.YieldOp)
    values = list(end.arguments)
    end.detach()
    end.erase()
    for inner in list(block.ops):
        inner.detach()
        assert operation.parent is not None
        operation.parent.insert_op_before(inner, operation)
    return values


def _guard_store(store: StoreOp, guard: SSAValue) -> None:
    old = LoadOp(store.memref, list(store.indices), store.map)
    select = arith.SelectOp(guard, store.value, old.result)
    insert_before(store, old, select)
    store.operands[0] = select.results[0]


def _guard_gather(load: LoadOp, guard: SSAValue) -> None:
    for position, index in enumerate(load.operands[1:], start=1):
        if is_irregular(index):
            zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
            select = arith.SelectOp(guard, index, zero.result)
            insert_before(load, zero, select)
            load.operands[position] = select.results[0]


def is_on_data(operation: scf.IfOp) -> bool:
    """Whether the condition depends on data, or is no conjunction of signed comparisons."""
    return depends_on_data(operation.cond) or not _is_conjunction(operation.cond)


def _is_conjunction(condition: SSAValue) -> bool:
    owner = condition.owner
    if isinstance(owner, arith.AndIOp):
        return _is_conjunction(owner.lhs) and _is_conjunction(owner.rhs)
    return isinstance(owner, arith.CmpiOp) and owner.predicate.value.data < 6
