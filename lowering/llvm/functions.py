"""Functions: C signatures and bodies.

Arguments come in order; a memref is a pointer to its first element followed by one i64 for each
dynamic dimension; an index is an i64; scalars are themselves. One result is returned, several are
written through trailing pointers.
"""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from ...dialects.errors import SourceError
from ...dialects.opaque import OPAQUE
from .emitter import Buffer, FunctionEmitter, constant, type_of
from .memory import store
from .module import ModuleEmitter
from .names import symbol
from .types import I64, POINTER, VOID, UnsupportedTypeError, value_type


def declare_function(module: ModuleEmitter, op: func.FuncOp, *, noalias: bool) -> None:
    """Declares the function of a `func.func`; `noalias`: its memrefs never share memory."""
    arguments: list[ir.Type] = []
    pointers: list[int] = []
    for argument in op.args:
        if isa(argument.type, MemRefType):
            pointers.append(len(arguments))
        arguments += _parameter_types(argument)
    try:
        results = [value_type(result) for result in op.function_type.outputs]
    except UnsupportedTypeError as error:
        raise SourceError.at(op, f"a result's {error}") from error
    returned = results[0] if len(results) == 1 else VOID
    if len(results) > 1:
        arguments += [POINTER] * len(results)
    function = module.define(
        symbol(op.sym_name.data), ir.FunctionType(returned, arguments), public=True
    )
    for position in pointers if noalias else ():
        function.args[position].add_attribute("noalias")
    module.functions[op.sym_name.data] = function
    module.parameters[op.sym_name.data] = tuple(op.function_type.inputs)


def _parameter_types(argument: SSAValue) -> list[ir.Type]:
    """The types of the C arguments that an argument is passed as; raises SourceError."""
    kind = type_of(argument)
    if not isa(argument.type, MemRefType):
        return [kind]
    return [POINTER, *(I64 for size in argument.type.get_shape() if size == DYNAMIC_INDEX)]


def emit_function(module: ModuleEmitter, op: func.FuncOp, *, noalias: bool) -> None:
    """Emits the body of a declared function."""
    block = op.body.block
    function = module.functions[op.sym_name.data]
    emitter = FunctionEmitter(module, function, once=block, noalias=noalias)
    if OPAQUE in op.attributes:
        emitter.stop = emitter.block("stop")
    arguments = iter(function.args)
    for argument in op.args:
        _bind(emitter, argument, arguments)
    results = emitter.emit_block(block)
    emitter.finish()
    match results:
        case []:
            emitter.builder.ret_void()
            if emitter.stop is not None:
                emitter.builder.position_at_end(emitter.stop)
                emitter.heap.free_all(emitter.builder)
                emitter.builder.ret_void()
        case [result]:
            emitter.builder.ret(result)
        case _:
            for result, pointer in zip(results, arguments, strict=True):
                store(emitter, result, pointer)
            emitter.builder.ret_void()


def _bind(emitter: FunctionEmitter, value: SSAValue, arguments: Iterator[ir.Value]) -> None:
    """Takes what stands for `value` from the C arguments."""
    first = next(arguments)
    if not isa(value.type, MemRefType):
        emitter.values[value] = first
        return
    sizes = tuple(
        next(arguments) if size == DYNAMIC_INDEX else constant(size)
        for size in value.type.get_shape()
    )
    emitter.buffers[value] = Buffer(first, sizes, type_of(value))
