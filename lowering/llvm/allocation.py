"""Stack and heap allocation of memrefs.

Small allocations of constant size are stack slots, made once per call (and per thread). All others
are on the heap, aligned to 64 bytes, and are freed exactly once: at the `memref.dealloc` when that
directly ends the memory's use in its block, else at the end of the block that allocated it. One of
constant size inside a loop is made once per call and freed at its end.

When memory cannot be had, the global counter `loopwright_failed_allocations` is incremented and the
function returns early: its results are meaningless, and nothing else has happened. A caller
compares the counter before and after the call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from llvmlite import ir
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from . import integers
from .emitter import Buffer, Emitters, FunctionEmitter, constant, type_of
from .heap import ALIGNMENT
from .types import I1, I64, POINTER, size_in_bytes, storage_type

MAX_STACK_SLOT = 16 << 10
MAX_STACK = 256 << 10

# aligned_alloc fails for this many bytes, and nothing overflows on the way there.
_TOO_MANY_BYTES = (1 << 63) - ALIGNMENT


def emit_allocation(emitter: FunctionEmitter, op: memref.AllocOp | memref.AllocaOp) -> None:
    element = type_of(op.memref)
    sizes = _sizes(emitter, op)
    extents = [integers.known(size) for size in sizes]
    known = [extent for extent in extents if extent is not None]
    if len(known) < len(extents):
        size = _bytes(emitter, [*sizes, constant(size_in_bytes(element))])
        pointer = _allocate_in_scope(emitter, op, size)
    else:
        pointer = _allocate_constant(emitter, op, element, math.prod(known))
    emitter.buffers[op.memref] = Buffer(pointer, sizes, element)


def _sizes(emitter: FunctionEmitter, op: memref.AllocOp | memref.AllocaOp) -> tuple[ir.Value, ...]:
    dynamic = iter(emitter.all_values(op.dynamic_sizes))
    shape = op.memref.type.get_shape() if isa(op.memref.type, MemRefType) else ()
    return tuple(next(dynamic) if extent == DYNAMIC_INDEX else constant(extent) for extent in shape)


def _allocate_constant(
    emitter: FunctionEmitter, op: memref.AllocOp | memref.AllocaOp, element: ir.Type, count: int
) -> ir.Value:
    size = count * size_in_bytes(element)
    if 0 <= size <= MAX_STACK_SLOT and emitter.stack_bytes + size <= MAX_STACK:
        emitter.stack_bytes += size
        kind = storage_type(element)
        slot = emitter.slots.alloca(kind if count == 1 else ir.ArrayType(kind, count))
        slot.align = ALIGNMENT if size >= ALIGNMENT else size_in_bytes(element)
        slot.type = POINTER  # llvmlite's own type lets only arrays be stored
        return slot
    rounded = (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    allocated = constant(rounded if 0 <= size <= _TOO_MANY_BYTES else _TOO_MANY_BYTES)
    if op.parent is emitter.once:
        return _allocate_in_scope(emitter, op, allocated)
    pointer, slot = emitter.heap.allocate(emitter.setup, allocated)
    emitter.scopes[0].append(slot)
    return pointer


def _allocate_in_scope(
    emitter: FunctionEmitter, op: memref.AllocOp | memref.AllocaOp, size: ir.Value
) -> ir.Value:
    pointer, slot = emitter.heap.allocate(emitter.builder, size)
    emitter.scopes[-1].append(slot)
    emitter.allocations[op.memref] = slot
    return pointer


def _bytes(emitter: FunctionEmitter, factors: Sequence[ir.Value]) -> ir.Value:
    """The product of factors, rounded up for the allocator; a size it refuses on overflow.

    A negative factor counts as a huge one.
    """
    builder = emitter.builder
    product, *others = factors
    overflow: ir.Value = ir.Constant(I1, 0)
    pair = ir.LiteralStructType([I64, I1])
    for factor in others:
        result = emitter.call_intrinsic("llvm.umul.with.overflow", [product, factor], pair, [I64])
        product = builder.extract_value(result, 0)
        overflow = builder.or_(overflow, builder.extract_value(result, 1))
    limit = constant(_TOO_MANY_BYTES)
    overflow = builder.or_(overflow, builder.icmp_unsigned(">", product, limit))
    rounded = builder.and_(builder.add(product, constant(ALIGNMENT - 1)), constant(-ALIGNMENT))
    nonzero = builder.select(
        builder.icmp_unsigned("==", rounded, constant(0)), constant(ALIGNMENT), rounded
    )
    return builder.select(overflow, limit, nonzero)


def emit_dealloc(emitter: FunctionEmitter, op: memref.DeallocOp) -> None:
    """Frees the memory when nothing uses it any more; otherwise its block's end will."""
    slot = emitter.allocations.get(op.memref)
    if slot is None or slot not in emitter.scopes[-1] or not _ends_use(op):
        return
    emitter.scopes[-1].remove(slot)
    emitter.heap.free(emitter.builder, slot)


def _ends_use(op: memref.DeallocOp) -> bool:
    """Whether every other use of the memref is in an operation before `op` in its block."""
    before = set[Operation]()
    previous = op.prev_op
    while previous is not None:
        before.add(previous)
        previous = previous.prev_op
    block = op.parent
    users = [use.operation for use in op.memref.uses if use.operation is not op]
    return block is not None and all(
        not isinstance(user, memref.CastOp) and block.find_ancestor_op_in_block(user) in before
        for user in users
    )


EMITTERS: Emitters = {
    memref.AllocOp.name: emit_allocation,
    memref.AllocaOp.name: emit_allocation,
    memref.DeallocOp.name: emit_dealloc,
}
