"""Removal of local arrays that are only stored to, because what was stored is in registers.

%p = memref.alloca()
affine.store %0, %p[]        ->        %1 = f %0
%1 = f %0
"""

from __future__ import annotations

from xdsl.dialects import func, memref, vector
from xdsl.ir import Operation, SSAValue

from ...dialects import affine
from ...dialects.vector import ScatterOp
from ..loops.operations import operations

_STORES = (affine.StoreOp, affine.VectorStoreOp, vector.MaskedStoreOp, ScatterOp)


def remove_unread_arrays(function: func.FuncOp) -> None:
    """Removes what is only stored to, and the stores, in place."""
    for op in operations(function):
        if isinstance(op, memref.AllocOp | memref.AllocaOp):
            _remove_if_unread(op)


def _remove_if_unread(allocation: memref.AllocOp | memref.AllocaOp) -> None:
    (array,) = allocation.results
    users = [use.operation for use in array.uses]
    if all(isinstance(user, memref.DeallocOp) or _stores_to(user, array) for user in users):
        for op in (*users, allocation):
            op.detach()
            op.erase()


def _stores_to(operation: Operation, array: SSAValue) -> bool:
    """Whether an operation stores to an array, and does nothing else with it."""
    return isinstance(operation, _STORES) and [*operation.operands].count(array) == 1
