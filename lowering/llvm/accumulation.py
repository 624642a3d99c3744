"""Reduction chains: additions whose products are computed apart, off the critical path.

The next addition waits for the one before, and on many processors a fused multiply-add takes longer
than an addition: `s = s + a[i] * b[i]` runs faster when the product is computed apart, beside the
waiting. With many sums at once nobody waits, and fused operations are fewer.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import affine, arith, scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue

MANY_SUMS = 4
"""More sums than this in a loop keep the units for fused operations busy."""


def accumulating_additions(block: Block) -> frozenset[Operation]:
    """The scalar additions and subtractions of a loop body that make up its few running sums."""
    if not _is_innermost_body(block):
        return frozenset()
    sums = [chain for start in _starts(block) if (chain := _chain(block, start))]
    return (
        frozenset(op for chain in sums for op in chain) if len(sums) <= MANY_SUMS else frozenset()
    )


def _is_innermost_body(block: Block) -> bool:
    loop = block.parent_op()
    return isinstance(loop, affine.ForOp | scf.ForOp) and not any(
        operation.regions for operation in block.ops
    )


def _starts(block: Block) -> Iterator[SSAValue]:
    """The values that an iteration takes over from the one before."""
    yield from block.args[1:]
    for operation in block.ops:
        if isinstance(operation, affine.LoadOp) and not _varies(operation, block):
            yield operation.result


def _varies(load: affine.LoadOp, block: Block) -> bool:
    """Whether the place of a load may depend on the iteration."""
    owners = [value.owner for value in load.indices]
    return any(
        owner is block or (isinstance(owner, Operation) and owner.parent is block)
        for owner in owners
    )


def _chain(block: Block, start: SSAValue) -> list[Operation]:
    """The additions from a value to what the next iteration takes over; empty if there are none."""
    chain: list[Operation] = []
    value = start
    while not _is_handed_on(block, start, value):
        following = [use.operation for use in value.uses if _adds(use.operation, value, block)]
        if len(following) != 1:
            return []
        chain.append(following[0])
        value = following[0].results[0]
    return chain


def _adds(operation: Operation, value: SSAValue, block: Block) -> bool:
    if operation.parent is not block or isinstance(value.type, VectorType):
        return False
    match operation:
        case arith.AddfOp():
            return True
        case arith.SubfOp():
            return operation.lhs is value
        case _:
            return False


def _is_handed_on(block: Block, start: SSAValue, value: SSAValue) -> bool:
    """Whether `value` is what the next iteration has in the place of `start`."""
    if value is start:
        return False
    source = start.owner
    for use in value.uses:
        match use.operation:
            case affine.YieldOp() | scf.YieldOp() if source is block:
                if use.index == block.args.index(start) - 1:
                    return True
            case affine.StoreOp() as store if isinstance(source, affine.LoadOp):
                if _same_place(source, store):
                    return True
            case _:
                pass
    return False


def _same_place(load: affine.LoadOp, store: affine.StoreOp) -> bool:
    return (
        load.memref is store.memref
        and load.map == store.map
        and tuple(load.indices) == tuple(store.indices)
    )
