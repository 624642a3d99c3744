"""Heap allocation, and the handling of its failure."""

from __future__ import annotations

from llvmlite import ir

from .module import ModuleEmitter
from .names import FAILED_ALLOCATIONS
from .types import I64, POINTER, VOID

ALIGNMENT = 64


class Heap:
    """The heap memory of one function.

    Each allocation has a stack slot with its address, null while there is none, so that a failing
    allocation can free what is alive and return from wherever it stands.
    """

    def __init__(self, module: ModuleEmitter, function: ir.Function, slots: ir.IRBuilder) -> None:
        self._module = module
        self._function = function
        self._slots = slots
        self._all: list[ir.Value] = []
        self._failure: ir.Block | None = None

    def allocate(self, builder: ir.IRBuilder, size: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Allocates `size` bytes, a multiple of ALIGNMENT: the address, and the slot for `free`."""
        allocator = self._module.declare("aligned_alloc", ir.FunctionType(POINTER, [I64, I64]))
        allocator.return_value.add_attribute("noalias")
        slot = self._slots.alloca(POINTER)
        self._slots.store(ir.Constant(POINTER, None), slot)
        self._all.append(slot)
        pointer = builder.call(allocator, [ir.Constant(I64, ALIGNMENT), size])
        if self._failure is None:
            self._failure = self._function.append_basic_block("allocation.failed")
        succeeded = self._function.append_basic_block("allocated")
        failed = builder.icmp_unsigned("==", pointer, ir.Constant(POINTER, None))
        builder.cbranch(failed, self._failure, succeeded)
        builder.position_at_end(succeeded)
        builder.store(pointer, slot)
        return pointer, slot

    def free(self, builder: ir.IRBuilder, slot: ir.Value) -> None:
        """Frees the memory of a slot."""
        free = self._module.declare("free", ir.FunctionType(VOID, [POINTER]))
        # Else any call might load from memory that is freed later, as far as LLVM can tell.
        free.args[0].add_attribute("captures(none)")
        builder.call(free, [builder.load(slot, typ=POINTER)])
        builder.store(ir.Constant(POINTER, None), slot)

    def free_all(self, builder: ir.IRBuilder) -> None:
        """Frees what is alive, wherever the function is left."""
        for slot in self._all:
            self.free(builder, slot)

    def finish(self) -> None:
        """Emits what a failing allocation does: count, free, return."""
        if self._failure is None:
            return
        builder = ir.IRBuilder(self._failure)
        counter = self._module.counter(FAILED_ALLOCATIONS)
        builder.atomic_rmw("add", counter, ir.Constant(I64, 1), "monotonic")
        self.free_all(builder)
        returned = self._function.function_type.return_type
        if isinstance(returned, ir.VoidType):
            builder.ret_void()
        else:
            builder.ret(ir.Constant(returned, None))
