"""Calls between the functions of a module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llvmlite import ir
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, UnrankedMemRefType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.hints import isa

from ...dialects.errors import SourceError
from ...dialects.external import ExternalCallOp
from ...dialects.memref import behind_views
from ..loops.call_graph import callee_of, calls_in
from .emitter import Emitters, FunctionEmitter, type_of
from .memory import load
from .types import I64, POINTER, VOID, size_in_bytes, storage_type

_INT_WIDTH = 32
"""Callers of C functions extend shorter integers than `int`, as clang's functions expect."""


def check_calls(functions: Mapping[str, func.FuncOp]) -> None:
    """Raises SourceError at a call of an unknown function, and at a recursive one."""
    done = set[str]()

    def visit(name: str, callers: tuple[str, ...]) -> None:
        for call in calls_in(functions[name]):
            callee = callee_of(call)
            if callee not in functions:
                raise SourceError.at(call, f"call of '{callee}', which has no body here")
            if callee in (*callers, name):
                raise SourceError.at(call, f"recursive call of '{callee}' cannot be compiled")
            if callee not in done:
                visit(callee, (*callers, name))
        done.add(name)

    for name in functions:
        if name not in done:
            visit(name, ())


def functions_with_overlap(functions: Mapping[str, func.FuncOp]) -> frozenset[str]:
    """Functions that some call gives two memrefs which may share memory.

    Callers from outside have checked theirs, but inside the module one memref may be passed twice.
    """
    found = set[str]()
    size = -1
    while len(found) != size:
        size = len(found)
        for name, function in functions.items():
            for call in calls_in(function):
                if _may_overlap(call.arguments, among_arguments=name in found):
                    found.add(callee_of(call))
    return frozenset(found)


def _may_overlap(values: Sequence[SSAValue], *, among_arguments: bool) -> bool:
    memrefs = [behind_views(value) for value in values if isa(value.type, MemRefType)]
    from_arguments = [value for value in memrefs if isinstance(value, BlockArgument)]
    repeated = len(set(memrefs)) < len(memrefs)
    return repeated or (among_arguments and len(from_arguments) > 1)


def emit_call(emitter: FunctionEmitter, op: func.CallOp) -> None:
    function = emitter.module.functions[callee_of(op)]
    parameters = emitter.module.parameters[callee_of(op)]
    arguments: list[ir.Value] = []
    for argument, parameter in zip(op.arguments, parameters, strict=True):
        if isa(parameter, MemRefType):
            buffer = emitter.buffer(argument)
            arguments.append(buffer.pointer)
            arguments += [
                size
                for size, extent in zip(buffer.sizes, parameter.get_shape(), strict=True)
                if extent == DYNAMIC_INDEX
            ]
        else:
            arguments.append(emitter.value(argument))
    if len(op.results) <= 1:
        returned = emitter.builder.call(function, arguments)
        emitter.values.update((result, returned) for result in op.results)
        return
    kinds = [type_of(result) for result in op.results]
    slots = [emitter.slots.alloca(storage_type(kind)) for kind in kinds]
    for slot, kind in zip(slots, kinds, strict=True):
        slot.align = size_in_bytes(kind)
    emitter.builder.call(function, [*arguments, *slots])
    for result, slot, kind in zip(op.results, slots, kinds, strict=True):
        emitter.values[result] = load(emitter, slot, kind)


def emit_external_call(emitter: FunctionEmitter, op: ExternalCallOp) -> None:
    """A call of a function that is only declared: pointers, each with its dynamic extents."""
    arguments: list[ir.Value] = []
    for operand, parameter in zip(op.operands_, op.function_type.inputs, strict=True):
        if not isa(parameter, MemRefType | UnrankedMemRefType):
            arguments.append(emitter.value(operand))
            continue
        buffer = emitter.buffer(operand)
        arguments.append(buffer.pointer)
        if not isa(parameter, MemRefType):
            arguments += _rank_and_extents(emitter, buffer.sizes)
            continue
        shape = parameter.get_shape()
        arguments += [buffer.sizes[n] for n, extent in enumerate(shape) if extent == DYNAMIC_INDEX]
    results = [type_of(result) for result in op.results_]
    returned = results[0] if results else VOID
    kind = ir.FunctionType(returned, [each.type for each in arguments])
    function = emitter.module.declare(op.callee.data, kind, ())
    extended = {
        position: ("zeroext" if argument.type.width == 1 else "signext",)
        for position, argument in enumerate(arguments)
        if isinstance(argument.type, ir.IntType) and argument.type.width < _INT_WIDTH
    }
    for position, (attribute,) in extended.items():
        function.args[position].add_attribute(attribute)
    value = emitter.builder.call(function, arguments, arg_attrs=extended)
    emitter.values.update((result, value) for result in op.results_)


def _rank_and_extents(emitter: FunctionEmitter, sizes: Sequence[ir.Value]) -> list[ir.Value]:
    """How many dimensions memory of any rank has, and a pointer to its extents."""
    kind = ir.ArrayType(I64, max(len(sizes), 1))
    memory = emitter.slots.alloca(kind)
    for number, size in enumerate(sizes):
        place = emitter.builder.gep(memory, [ir.Constant(I64, 0), ir.Constant(I64, number)])
        emitter.builder.store(size, place)
    return [ir.Constant(I64, len(sizes)), emitter.builder.bitcast(memory, POINTER)]


EMITTERS: Emitters = {"func.call": emit_call, "memref.external": emit_external_call}
