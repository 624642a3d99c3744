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
from xdsl.dialects import func, memref, vector
from xdsl.ir import Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import affine
from ..loops.alias_analysis import touched_memrefs
from ..loops.operations import operations
from ..loops.place_access import stored_value
from .movable_operands import can_be_hoisted, form, hoist

_STORES = (xdsl_affine.StoreOp, affine.VectorStoreOp, vector.MaskedStoreOp)


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
    (array,) = touched_memrefs(store)[:1]
    return store if isinstance(array.owner, memref.AllocaOp) else None


def _are_alike(one: Operation, other: Operation) -> bool:
    """Whether two stores are to the same place, which is known in front of the conditional."""
    places = [list(map(form, _place(store))) for store in (one, other)]
    assert one.parent is not None
    return (
        one.name == other.name
        and one.properties == other.properties
        and one.attributes == other.attributes
        and stored_value(one).type == stored_value(other).type
        and places[0] == places[1]
        and can_be_hoisted(_place(one), one.parent)
    )


def _position(store: Operation) -> int:
    """Which operand is the value; it may be a subscript or the mask as well."""
    return len(store.operands) - 1 if isinstance(store, vector.MaskedStoreOp) else 0


def _place(store: Operation) -> list[SSAValue]:
    """All operands but the value."""
    position = _position(store)
    return [*store.operands[:position], *store.operands[position + 1 :]]


def _sink(op: xdsl_affine.IfOp, one: Operation, other: Operation) -> None:
    """Replaces the conditional by one with a result, and the stores by one behind it."""
    hoist(_place(one), op)
    values = [stored_value(store) for store in (one, other)]
    store = one.clone()
    for old, value in zip((one, other), values, strict=True):
        assert old.parent is not None and old.parent.last_op is not None
        Rewriter.replace_op(old.parent.last_op, affine.YieldOp.get(value))
        old.detach()
        old.erase()
    then, otherwise = op.detach_region(0), op.detach_region(0)
    new = affine.IfOp(op.condition, op.operands, then, otherwise, [values[0].type])
    store.operands[_position(store)] = new.results[0]
    Rewriter.insert_op([new, store], InsertPoint.before(op))
    op.detach()
    op.erase()
