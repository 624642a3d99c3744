"""memref.atomic_rmw -> load, combine, store.

Threads of parallel loops only run what the dependences allow: nothing else has to be atomic.
"""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Operation, SSAValue

from .....dialects.errors import SourceError
from .....dialects.memref import ATOMIC_KINDS
from ...reduction_kinds import reduction_kind
from ..cells import insert_before
from .emission import erase


def expand_atomic(operation: Operation) -> None:
    """Replaces the operation; raises SourceError where its result is used."""
    assert isinstance(operation, memref.AtomicRMWOp)
    if operation.result.uses:
        raise SourceError.at(
            operation,
            "the result of 'memref.atomic_rmw' is used",
            hint="load the element instead",
        )
    number = operation.kind
    assert isinstance(number, IntegerAttr)
    name = ATOMIC_KINDS[number.value.data]
    value: SSAValue = operation.value
    if name != "assign":
        load = memref.LoadOp.get(operation.memref, operation.indices)
        kind = reduction_kind(operation, StringAttr(name), operation.value.type)
        combined = kind.combine(load.results[0], operation.value)
        insert_before(operation, load, *combined)
        value = combined[-1].results[0]
    insert_before(operation, memref.StoreOp.get(value, operation.memref, operation.indices))
    erase(operation)
