"""The state of a translation: the module, the function being emitted, the values known so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from llvmlite import ir
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.errors import SourceError
from .options import Options
from .types import I64, UnsupportedTypeError, check_layout, value_type

if TYPE_CHECKING:
    from ...passes.target import Target


@dataclass(frozen=True)
class Buffer:
    """A memref: a pointer to its first element and its sizes, row-major and contiguous."""

    pointer: ir.Value
    sizes: tuple[ir.Value, ...]
    element: ir.Type


def type_of(value: SSAValue) -> ir.Type:
    """The LLVM type of a scalar or vector, or of the elements of a memref; raises SourceError."""
    try:
        if isinstance(value.type, MemRefType):
            check_layout(value.type)
            return value_type(value.type.element_type)
        return value_type(value.type)
    except UnsupportedTypeError as error:
        raise SourceError.at(value, str(error)) from error


Emit: TypeAlias = "Callable[[FunctionEmitter, Any], None]"
# From the name of an operation to what emits it.
Emitters: TypeAlias = Mapping[str, Emit]


class ModuleEmitter:
    """An LLVM module being built, and what the functions in it share."""

    def __init__(self, name: str, target: Target, options: Options, emitters: Emitters) -> None:
        self.module = ir.Module(name=name)
        self.target = target
        self.options = options
        self.emitters = emitters

    def declare(
        self, name: str, function_type: ir.FunctionType, attributes: Iterable[str] = ()
    ) -> ir.Function:
        """The function `name` of the module, declared when it is met first."""
        existing = self.module.globals.get(name)
        if isinstance(existing, ir.Function):
            return existing
        function = ir.Function(self.module, function_type, name=name)
        for attribute in attributes:
            set.add(function.attributes, attribute)
        return function

    def intrinsic(
        self, name: str, overloads: Sequence[ir.Type], function_type: ir.FunctionType
    ) -> ir.Function:
        """The intrinsic `name` for the given overloaded types, as `llvm.smin.v8i64`."""
        suffix = "".join(f".{_mangled(overload)}" for overload in overloads)
        return self.declare(f"{name}{suffix}", function_type)

    def define(self, name: str, function_type: ir.FunctionType, *, public: bool) -> ir.Function:
        """A new function of the module, with the target's attributes."""
        function = ir.Function(self.module, function_type, name=name)
        if not public:
            function.linkage = "internal"
        for attribute in (
            "nounwind",
            "mustprogress",
            f'"target-cpu"="{self.target.name}"',
            f'"prefer-vector-width"="{self.target.vector_bits}"',
        ):
            set.add(function.attributes, attribute)
        return function


def _mangled(overload: ir.Type) -> str:
    if isinstance(overload, ir.VectorType):
        return f"v{overload.count}{_mangled(overload.element)}"
    return overload.intrinsic_name


class FunctionEmitter:
    """One LLVM function being built.

    Its first block, `entry`, holds what must happen once: stack slots and allocations that loops
    share.
    """

    def __init__(self, module: ModuleEmitter, function: ir.Function) -> None:
        self.module = module
        self.function = function
        self.values: dict[SSAValue, ir.Value] = {}
        self.buffers: dict[SSAValue, Buffer] = {}
        self.in_parallel = False
        self.entry = ir.IRBuilder(function.append_basic_block("entry"))
        self.builder = ir.IRBuilder(function.append_basic_block("body"))
        self._body = self.builder.block

    def value(self, value: SSAValue) -> ir.Value:
        """The LLVM value of a scalar or vector."""
        try:
            return self.values[value]
        except KeyError:
            raise SourceError.at(value, f"type '{value.type}' cannot be used here") from None

    def all_values(self, values: Iterable[SSAValue]) -> list[ir.Value]:
        """The LLVM values of several scalars or vectors."""
        return [self.value(value) for value in values]

    def buffer(self, value: SSAValue) -> Buffer:
        """The buffer of a memref."""
        try:
            return self.buffers[value]
        except KeyError:
            raise SourceError.at(value, f"type '{value.type}' cannot be used here") from None

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

    def emit_block(self, block: Block) -> list[ir.Value]:
        """Emits the operations of a block; returns what its terminator passes on."""
        for operation in block.ops:
            if operation.has_trait(IsTerminator):
                return self.all_values(operation.operands)
            self.emit(operation)
        return []

    def emit(self, operation: Operation) -> None:
        """Emits one operation; raises SourceError when there is no translation."""
        emit = self.module.emitters.get(operation.name)
        if emit is None:
            raise SourceError.at(operation, f"operation '{operation.name}' cannot be compiled")
        emit(self, operation)

    def finish(self) -> None:
        """Connects the entry with the body."""
        self.entry.branch(self._body)


def constant(value: int) -> ir.Constant:
    """An index constant."""
    return ir.Constant(I64, value)
