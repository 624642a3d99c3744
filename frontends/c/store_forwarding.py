"""Store-to-load forwarding of local scalars in a block: variables that are assigned repeatedly.

It makes one statement of several before dependences are known, so it keeps their order and computes
nothing twice. `lowering/memory/store_to_load_forwarding.py` is the other end: it hands over values
of any place in scheduled loops, where statements no longer matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import memref
from xdsl.dialects.affine import LoadOp, StoreOp
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Block, Operation

_PURE = ("arith.", "math.")
_READS = (LoadOp, memref.LoadOp)


def forward_local_scalars(function: Operation) -> None:
    """Values of a local scalar that one later statement of the same block uses, handed over.

    m = A[i]; m = min(m, B[i]); C[i] = m      ->      C[i] = min(A[i], B[i])

    Only where the assignment is needless then, and nothing that it reads is overwritten before the
    use: so nothing is computed twice, and no statements become one for their order. Arithmetic of
    indices and arguments goes to all uses, also to those in loops and branches: subscripts and
    conditions are seen as what they are.
    """
    for cell in list(function.walk()):
        if not isinstance(cell, memref.AllocaOp) or cell.memref.type.get_shape():
            continue
        accesses = [use.operation for use in cell.memref.uses]
        if all(isinstance(each, LoadOp | StoreOp) for each in accesses):
            for block in dict.fromkeys(each.parent for each in accesses):
                assert block is not None
                _forward(cell, block)
            if not any(True for _ in cell.memref.uses):
                cell.detach()
                cell.erase()


def _forward(cell: memref.AllocaOp, block: Block) -> None:
    """Forwards what the stores of a block leave in a scalar."""
    events = _events(cell, block)
    for number, store in enumerate(events):
        if not isinstance(store, StoreOp):
            continue
        until = next(
            (k for k, op in enumerate(events) if k > number and not _only_loads(op, cell)), None
        )
        is_last = until is None
        if (is_last and cell.parent is not block) or (
            until is not None and not isinstance(events[until], StoreOp)
        ):
            continue
        loads = [load for op in events[number + 1 : until] for load in _loads_of(op, cell)]
        if loads and (_is_index_arithmetic(store) or _has_one_user(store, loads)):
            for load in loads:
                load.result.replace_all_uses_with(store.value)
                load.detach()
                load.erase()
            store.detach()
            store.erase()


def _only_loads(operation: Operation, cell: memref.AllocaOp) -> bool:
    """Whether an operation, with all inside, reads a scalar and does not change it."""
    return not any(
        isinstance(use.operation, StoreOp) and _contains(operation, use.operation)
        for use in cell.memref.uses
    )


def _loads_of(operation: Operation, cell: memref.AllocaOp) -> list[LoadOp]:
    """The loads of a scalar that are an operation, or are inside of it."""
    return [
        use.operation
        for use in cell.memref.uses
        if isinstance(use.operation, LoadOp) and _contains(operation, use.operation)
    ]


def _contains(operation: Operation, inner: Operation) -> bool:
    return operation is inner or operation.is_ancestor(inner)


def _is_index_arithmetic(store: StoreOp) -> bool:
    """Whether a store's value follows from indices of loops and arguments alone."""
    return not any(True for _ in _loads(store)) and isinstance(store.value.type, IntegerType)


def _has_one_user(store: StoreOp, loads: Sequence[LoadOp]) -> bool:
    """Whether loads are there for one later store of the block, which reads what this one did."""
    if any(load.parent is not store.parent for load in loads):
        return False
    user = _only_user(loads)
    return user is not None and not _is_overwritten(store, user)


def _events(cell: memref.AllocaOp, block: Block) -> list[Operation]:
    """The operations of a block that access a scalar, or that have others inside that do."""
    found = {block.find_ancestor_op_in_block(use.operation) for use in cell.memref.uses}
    return [op for op in block.ops if op in found]


def _only_user(loads: Sequence[LoadOp]) -> StoreOp | None:
    """The store of the same block for which alone all loads are there."""
    users: dict[StoreOp, None] = {}
    pending: list[Operation] = list(loads)
    seen: set[Operation] = set()
    while pending:
        operation = pending.pop()
        for use in (use for result in operation.results for use in result.uses):
            user = use.operation
            if user.parent is not operation.parent:
                return None
            if isinstance(user, StoreOp) and not use.index:
                users[user] = None
            elif not user.name.startswith(_PURE) and not isinstance(user, memref.LoadOp):
                return None  # An affine subscript, a condition, a call.
            elif user not in seen:
                seen.add(user)
                pending.append(user)
    return next(iter(users)) if len(users) == 1 else None


def _is_overwritten(store: StoreOp, user: StoreOp) -> bool:
    """Whether operations between two stores may change what the first one's value is made of."""
    loaded = {load.memref for load in _loads(store)}
    operation = store.next_op
    while operation is not None and operation is not user:
        is_known = operation.name.startswith(_PURE) or isinstance(operation, _READS)
        if isinstance(operation, StoreOp):
            is_known = operation.memref not in loaded
        if not is_known:
            return True
        operation = operation.next_op
    return False


def _loads(store: StoreOp) -> Iterator[LoadOp | memref.LoadOp]:
    """The loads that the value of a store is computed from, with those of their subscripts."""
    pending = [store.value]
    seen: set[Operation] = set()
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in seen:
            seen.add(owner)
            if isinstance(owner, LoadOp):
                yield owner
            else:
                inside = list(owner.walk())
                yield from (op for op in inside if isinstance(op, _READS))
                pending.extend(operand for op in inside for operand in op.operands)
