"""Sinking of stores that both branches of a conditional end with, to behind it.

The value is handed over in a register, and what loads it next needs no memory:

    if i >= 1:                                    %v = if i >= 1:
      %0 = load a[i - 1, j]; store %0, v[]          %0 = load a[i - 1, j]; yield %0
    else:                                         else:
      %1 = load a[i, j]; store %1, v[]     ->       %1 = load a[i, j]; yield %1
    %2 = load v[]                                 store %v, v[]
                                                  %2 = load v[]
"""

from __future__ import annotations

from xdsl.dialects import affine as xdsl_affine
from xdsl.dialects import func, memref
from xdsl.ir import Block, Operation, Region
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import affine
from ..loops.operations import operations
from ..loops.place_access import stored_value

_STORES = (xdsl_affine.StoreOp, affine.VectorStoreOp)


def sink_stores(function: func.FuncOp) -> None:
    """Has conditionals return what both branches store last to a local array, in place."""
    for op in reversed(operations(function)):
        if isinstance(op, xdsl_affine.IfOp) and not op.results:
            stores = [_last_store(region) for region in op.regions]
            if len(stores) == 2 and stores[0] and stores[1] and _are_alike(stores[0], stores[1]):
                _sink(op, stores[0], stores[1])


def _last_store(region: Region) -> Operation | None:
    """The store to a local array that a branch ends with."""
    last = region.block.last_op if region.blocks else None
    store = None if last is None else last.prev_op
    if not isinstance(store, _STORES):
        return None
    return store if isinstance(store.memref.owner, memref.AllocaOp) else None


def _are_alike(one: Operation, other: Operation) -> bool:
    """Whether two stores are to the same place, which is known in front of the conditional."""
    places = [[v for v in op.operands if v is not stored_value(op)] for op in (one, other)]
    return (
        type(one) is type(other)
        and one.properties == other.properties
        and one.attributes == other.attributes
        and stored_value(one).type == stored_value(other).type
        and places[0] == places[1]
        and not any(_is_in_block(value.owner, one.parent) for value in places[0])
    )


def _is_in_block(owner: Operation | Block, block: Block | None) -> bool:
    return owner is block or (isinstance(owner, Operation) and owner.parent is block)


def _sink(op: xdsl_affine.IfOp, one: Operation, other: Operation) -> None:
    """Replaces the conditional by one with a result, and the stores by one behind it."""
    values = [stored_value(store) for store in (one, other)]
    position = list(one.operands).index(values[0])
    for store, value in zip((one, other), values, strict=True):
        block = store.parent
        assert block is not None and block.last_op is not None
        Rewriter.replace_op(block.last_op, affine.YieldOp.get(value))
    store = one.clone()
    other.detach()
    other.erase()
    one.detach()
    one.erase()
    then, otherwise = op.detach_region(0), op.detach_region(0)
    new = affine.IfOp(op.condition, op.operands, then, otherwise, [values[0].type])
    store.operands[position] = new.results[0]
    Rewriter.insert_op([new, store], InsertPoint.before(op))
    op.detach()
    op.erase()
