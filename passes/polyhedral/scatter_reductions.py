"""Recognition of scattered reductions: opaque regions that only update an array.

    H[idx[i]] = H[idx[i]] op w[i]

Which element a step accumulates in is not known. Wherever the region accesses the array, it loads
an element, combines it, and stores it again, each time by the same operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.affine import LoadOp, StoreOp
from xdsl.ir import Operation, SSAValue

from ...dialects.opaque import callee_of
from .reduction_steps import KINDS, step
from .scop import Statement


@dataclass(frozen=True)
class Updates:
    """What a region accumulates in an array by, and all the operations that do."""

    operation: str
    steps: tuple[Operation, ...]


def updates_of(call: func.CallOp, array: SSAValue) -> Updates | None:
    """How an opaque region accumulates in an array that it takes; None where it does more."""
    if array not in call.arguments:
        return None
    position = list(call.arguments).index(array)
    memref = callee_of(call).body.block.args[position]
    users = [use.operation for use in memref.uses]
    stores = [user for user in users if isinstance(user, StoreOp)]
    if not stores or len(users) != 2 * len(stores):
        return None
    for kind in KINDS:
        found = [_update(kind, store, users) for store in stores]
        steps = [each for chain in found if chain for each in chain]
        if all(found):
            return Updates(kind, tuple(steps))
    return None


def scattered_updates(statement: Statement) -> tuple[func.CallOp, Updates] | None:
    """How an opaque statement accumulates in the one array that it writes."""
    calls = [operation for operation in statement.body if isinstance(operation, func.CallOp)]
    if len(calls) != 1 or len(statement.writes) != 1:
        return None
    (store,) = statement.writes
    if store.op is not calls[0]:
        return None
    found = updates_of(calls[0], store.array.value)
    return None if found is None else (calls[0], found)


def _update(kind: str, store: StoreOp, users: Sequence[Operation]) -> list[Operation] | None:
    """The steps from a load of the element to its store, with no other access in between."""
    steps: list[Operation] = []
    load = _load(kind, store, store.value, steps)
    if load is None:
        return None
    between = load.next_op
    while between is not None and between is not store:
        if any(inner in users for inner in between.walk()):
            return None
        between = between.next_op
    return steps if between is store else None


def _load(kind: str, store: StoreOp, value: SSAValue, steps: list[Operation]) -> LoadOp | None:
    """The load of the stored element from which steps of a kind lead to a value."""
    operation = value.owner
    if not isinstance(operation, Operation) or operation.parent is not store.parent:
        return None
    if value.uses.get_length() != 1:
        return None
    if isinstance(operation, LoadOp):
        is_same = (
            operation.memref is store.memref
            and operation.map == store.map
            and list(operation.indices) == list(store.indices)
        )
        return operation if is_same and steps else None
    for position in step(kind, operation):
        steps.append(operation)
        found = _load(kind, store, operation.operands[position], steps)
        if found is not None:
            return found
        steps.pop()
    return None
