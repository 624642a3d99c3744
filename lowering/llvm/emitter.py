"""State of a function's translation: insertion point and LLVM values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, TypeAlias

from llvmlite import ir
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.errors import SourceError
from ...dialects.memref import is_memref
from ...passes.polyhedral.selected_extrema import SelectedExtremum
from ..memory.interleaved_loads import InterleavedLoads, interleaved_loads
from .heap import Heap
from .joined_stores import JoinedStores, joined_stores
from .module import ModuleEmitter
from .rare_selections import RareSelections, rare_selections
from .shifted_loads import ShiftedLoad, shifted_loads
from .transposed_loads import TransposedLoads, transposed_loads
from .types import I1, I64, VOID, UnsupportedTypeError, check_layout, value_type

Emit: TypeAlias = "Callable[[FunctionEmitter, Any], None]"
Emitters: TypeAlias = Mapping[str, Emit]
"""From the name of an operation to what emits it."""

_RARELY = (1, 2000)
"""Weights of a branch that is hardly ever taken."""


@dataclass(frozen=True)
class Buffer:
    """A memref: a pointer to its first element and its sizes, row-major and contiguous."""

    pointer: ir.Value
    sizes: tuple[ir.Value, ...]
    element: ir.Type


class FunctionEmitter:
    """One LLVM function being built.

    `slots` is positioned in its first block, where stack slots are made; `setup` between that and
    the body, where what happens once before the body goes. `once` is the block of loop IR that
    runs once per call, if there is one; `noalias` says that no two memrefs from outside share
    memory. `loaded` has the vector loads and gathers of the block being emitted that have been
    emitted, which need not be in order. `scopes` has, per open block of the loop IR, the memory
    that is freed at its end (the first is for the end of the function); `allocations` finds it by
    its memref. `scratch` has slots, by their bytes, for accesses that leave their array in a
    bounds-checked build. `in_any_order` are steps of extrema that are emitted without an order
    (`accumulated_extrema`). `streams` says that stores go past the caches, which others see after a
    fence only. `stop`, in an opaque region, is the block in which it ends at a violation.
    """

    def __init__(
        self,
        module: ModuleEmitter,
        function: ir.Function,
        *,
        once: Block | None = None,
        noalias: bool = True,
    ) -> None:
        self.module = module
        self.function = function
        self.values: dict[SSAValue, ir.Value] = {}
        self.buffers: dict[SSAValue, Buffer] = {}
        self.once = once
        self.noalias = noalias
        self.in_parallel = False
        self.streams = False
        self.stop: ir.Block | None = None
        self.in_any_order: Mapping[Operation, SelectedExtremum] = {}
        self.loaded: set[Operation] = set()
        self._shifted_loads: dict[Block, Mapping[Operation, ShiftedLoad]] = {}
        self._transposed_loads: dict[Block, Mapping[Operation, TransposedLoads]] = {}
        self._interleaved_loads: dict[Block, Mapping[Operation, InterleavedLoads]] = {}
        self._joined_stores: dict[Block, Mapping[Operation, JoinedStores]] = {}
        self.stack_bytes = 0
        self.scratch: dict[int, ir.Value] = {}
        self.scopes: list[list[ir.Value]] = [[]]
        self.allocations: dict[SSAValue, ir.Value] = {}
        self.slots = ir.IRBuilder(function.append_basic_block("entry"))
        self.setup = ir.IRBuilder(function.append_basic_block("setup"))
        self.builder = ir.IRBuilder(function.append_basic_block("body"))
        self.heap = Heap(module, function, self.slots)
        self._setup, self._body = self.setup.block, self.builder.block

    def value(self, value: SSAValue) -> ir.Value:
        """The LLVM value of a scalar or vector."""
        try:
            return self.values[value]
        except KeyError:
            raise SourceError.at(
                value, f"a value of type '{value.type}' cannot be used here"
            ) from None

    def all_values(self, values: Iterable[SSAValue]) -> list[ir.Value]:
        """The LLVM values of several scalars or vectors."""
        return [self.value(value) for value in values]

    def buffer(self, value: SSAValue) -> Buffer:
        """The buffer of a memref."""
        try:
            return self.buffers[value]
        except KeyError:
            raise SourceError.at(
                value, f"a value of type '{value.type}' cannot be used here"
            ) from None

    def shifted_load(self, operation: Operation) -> ShiftedLoad | None:
        """How to get what the operation loads from what others do, if that is cheaper."""
        block = operation.parent
        if block is None or self.module.options.check_bounds:
            return None
        if block not in self._shifted_loads:
            self._shifted_loads[block] = shifted_loads(block, noalias=self.noalias)
        return self._shifted_loads[block].get(operation)

    def transposed_loads(self, operation: Operation) -> TransposedLoads | None:
        """The gathers of the block that read the same rows as this one, if that is cheaper."""
        block = operation.parent
        if block is None or self.module.options.check_bounds:
            return None
        if block not in self._transposed_loads:
            self._transposed_loads[block] = transposed_loads(
                block,
                self._stores_of(block),
                noalias=self.noalias,
                vector_bits=self.module.target.vector_bits,
            )
        return self._transposed_loads[block].get(operation)

    def interleaved_loads(self, operation: Operation) -> InterleavedLoads | None:
        """The gathers of the block of the same rows as this one, if these are loaded whole."""
        block = operation.parent
        if block is None or self.module.options.check_bounds:
            return None
        if block not in self._interleaved_loads:
            self._interleaved_loads[block] = interleaved_loads(
                block, self._stores_of(block), noalias=self.noalias
            )
        return self._interleaved_loads[block].get(operation)

    def joined_stores(self, operation: Operation) -> JoinedStores | None:
        """The scatters of the block that are stored together with this one, if any are."""
        block = operation.parent
        if block is None or self.module.options.check_bounds:
            return None
        return self._stores_of(block).get(operation)

    def _stores_of(self, block: Block) -> Mapping[Operation, JoinedStores]:
        if block not in self._joined_stores:
            self._joined_stores[block] = joined_stores(
                block, self.module.target, noalias=self.noalias
            )
        return self._joined_stores[block]

    def block(self, name: str) -> ir.Block:
        """A new basic block at the end of the function."""
        return self.function.append_basic_block(name)

    def call_intrinsic(
        self,
        name: str,
        arguments: Sequence[ir.Value],
        result: ir.Type,
        overloads: Sequence[ir.Type] | None = None,
        flags: Sequence[str] = (),
    ) -> ir.Value:
        """Calls an intrinsic; it is overloaded on its result unless told otherwise."""
        function_type = ir.FunctionType(result, [argument.type for argument in arguments])
        function = self.module.intrinsic(
            name, [result] if overloads is None else overloads, function_type
        )
        return self.builder.call(function, arguments, fastmath=flags)

    def append(self, opcode: str, result: ir.Type, operands: Sequence[ir.Value]) -> ir.Value:
        """Appends an instruction that llvmlite has no method for."""
        instruction = ir.Instruction(self.builder.block, result, opcode, operands)
        self.builder.block.instructions.append(instruction)
        self.builder.position_at_end(self.builder.block)
        return instruction

    def emit_block(self, block: Block) -> list[ir.Value]:
        """Emits the operations of a block; returns what its terminator passes on."""
        self.scopes.append([])
        around, self.loaded = self.loaded, set()
        passed: list[ir.Value] = []
        rare = rare_selections(block)
        for operation in block.ops:
            if operation.has_trait(IsTerminator):
                passed = self.all_values(operation.operands)
                break
            group = rare.get(operation)
            if group is None:
                self._emit(operation)
            elif operation is group.selections[0]:
                self._emit_rarely(group)
        self._close_scope()
        self.loaded = around
        return passed

    def _emit(self, operation: Operation) -> None:
        emit = self.module.emitters.get(operation.name)
        if emit is None:
            raise SourceError.at(operation, f"operation '{operation.name}' cannot be compiled")
        emit(self, operation)

    def _emit_rarely(self, group: RareSelections) -> None:
        """Selections, and what they need, behind a branch on the tests; else the false values."""
        usual = self.all_values(each.rhs for each in group.selections)
        holds = reduce(self.builder.and_, self.all_values(group.tests))
        if isinstance(holds.type, ir.VectorType):
            holds = self.call_intrinsic("llvm.vector.reduce.or", [holds], I1, [holds.type])
        before, rarely, after = self.builder.block, self.block("rarely"), self.block("after")
        self.builder.cbranch(holds, rarely, after).set_weights(_RARELY)
        self.builder.position_at_end(rarely)
        for operation in (*group.needed, *group.selections):
            self._emit(operation)
        end = self.builder.block
        self.builder.branch(after)
        self.builder.position_at_end(after)
        for selection, other in zip(group.selections, usual, strict=True):
            phi = self.builder.phi(other.type)
            phi.add_incoming(other, before)
            phi.add_incoming(self.values[selection.result], end)
            self.values[selection.result] = phi

    def finish(self) -> None:
        """Ends the last block, except for its return instruction, and connects the first ones."""
        self._close_scope()
        if self.streams:
            self.call_intrinsic("llvm.x86.sse.sfence", [], VOID, [])
        self.heap.finish()
        self.slots.branch(self._setup)
        self.setup.branch(self._body)

    def _close_scope(self) -> None:
        for slot in reversed(self.scopes.pop()):
            self.heap.free(self.builder, slot)


def type_of(value: SSAValue) -> ir.Type:
    """The LLVM type of a scalar or vector, or of the elements of a memref; raises SourceError."""
    try:
        if is_memref(value.type):
            check_layout(value.type)
            return value_type(value.type.element_type)
        return value_type(value.type)
    except UnsupportedTypeError as error:
        raise SourceError.at(value, str(error)) from error


@lru_cache(maxsize=4096)
def constant(value: int) -> ir.Constant:
    """An index constant."""
    return ir.Constant(I64, value)
