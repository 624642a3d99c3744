"""Entry points for C callers: argument checks and a status code.

    i32 gemm(i64 ni, ..., ptr C, i64 C_dim0, i64 C_dim1, ptr A, ...)

The arguments are those of the function (see `functions.py`) without the integers that are fixed,
and a pointer for each result. Where an argument is refused, nothing has happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from llvmlite import ir
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from . import integers
from .emitter import Buffer, FunctionEmitter, constant, type_of
from .memory import store
from .module import ModuleEmitter
from .names import BOUNDS_VIOLATION, FAILED_ALLOCATIONS
from .types import I1, I32, I64, POINTER, size_in_bytes, value_type

LARGEST_SIZE = 1 << 52
"""No size is larger, whatever is computed with it."""


class Status(IntEnum):
    """Status codes of entry points."""

    OK = 0
    OUT_OF_MEMORY = 1
    OUT_OF_BOUNDS = 2
    OVERLAP = 3
    MISALIGNED = 4
    WRONG_SHAPE = 5
    NULL_POINTER = 6
    UNSUPPORTED_PROCESSOR = 7
    WRONG_SUBSCRIPT = 8


@dataclass(frozen=True)
class EntryPoint:
    """A C-callable function.

    `symbol` is its name, `function` that of the `func.func` which it calls. `fixed` has the values
    of integer arguments that callers do not pass. Known extents of memrefs are not passed either,
    except for those in `passed` (argument and dimension), which must be as known. `fits`, if any,
    says whether no access leaves its array, for the `sizes`: arguments and dimensions (None for
    integers), by position, each with the largest magnitude that it may have. No two memrefs of a
    pair in `conflicts` may overlap; those in `used` are accessed.
    """

    symbol: str
    function: str
    fixed: Mapping[int, int]
    passed: frozenset[tuple[int, int]]
    fits: func.FuncOp | None
    sizes: Mapping[tuple[int, int | None], int]
    conflicts: tuple[tuple[int, int], ...]
    used: tuple[int, ...]


def emit_entry_point(module: ModuleEmitter, op: func.FuncOp, entry: EntryPoint) -> None:
    """Emits the entry point of a translated function, and hides all other symbols."""
    for function in module.module.functions:
        if function.blocks:
            function.linkage = "internal"
    results = [value_type(result) for result in op.function_type.outputs]
    types = _parameter_types(op, entry) + [POINTER] * len(results)
    function = module.define(entry.symbol, ir.FunctionType(I32, types), public=True)
    assert function.name == entry.symbol, f"the symbol '{entry.symbol}' is taken"
    emitter = FunctionEmitter(module, function)
    passed = iter(function.args)
    wrong = _bind(emitter, op, entry, passed)
    if entry.passed:
        _refuse(emitter, wrong, Status.WRONG_SHAPE)
    _check_magnitudes(emitter, op, entry)
    _check_sizes(emitter, op, entry)
    _check_pointers(emitter, entry, op)
    _check_alignment(emitter, op, entry)
    _check_overlap(emitter, op, entry)
    _call(emitter, op, list(passed), results)
    emitter.finish()


def _parameter_types(op: func.FuncOp, entry: EntryPoint) -> list[ir.Type]:
    types: list[ir.Type] = []
    for position, argument in enumerate(op.args):
        if position not in entry.fixed:
            types.append(POINTER if _shape(argument) is not None else type_of(argument))
        for dimension, extent in enumerate(_shape(argument) or ()):
            if extent == DYNAMIC_INDEX or (position, dimension) in entry.passed:
                types.append(I64)
    return types


def _shape(argument: SSAValue) -> tuple[int, ...] | None:
    return argument.type.get_shape() if isa(argument.type, MemRefType) else None


def _bind(
    emitter: FunctionEmitter, op: func.FuncOp, entry: EntryPoint, passed: Iterator[ir.Value]
) -> ir.Value:
    """Takes the arguments from those of C; returns whether an extent is not what it must be."""
    builder = emitter.builder
    wrong: ir.Value = ir.Constant(I1, 0)
    for position, argument in enumerate(op.args):
        shape = _shape(argument)
        if shape is None:
            fixed = entry.fixed.get(position)
            kind = type_of(argument)
            emitter.values[argument] = next(passed) if fixed is None else ir.Constant(kind, fixed)
            continue
        pointer = next(passed)
        sizes: list[ir.Value] = []
        for dimension, extent in enumerate(shape):
            sizes.append(next(passed) if extent == DYNAMIC_INDEX else constant(extent))
            if (position, dimension) in entry.passed:
                differs = builder.icmp_unsigned("!=", next(passed), sizes[-1])
                wrong = builder.or_(wrong, differs)
        emitter.buffers[argument] = Buffer(pointer, tuple(sizes), type_of(argument))
    return wrong


def _refuse(emitter: FunctionEmitter, wrong: ir.Value, status: Status) -> None:
    """Returns the status where `wrong` is true."""
    refused, accepted = emitter.block(status.name.lower()), emitter.block("accepted")
    emitter.builder.cbranch(wrong, refused, accepted)
    ir.IRBuilder(refused).ret(ir.Constant(I32, status.value))
    emitter.builder.position_at_end(accepted)


def _check_magnitudes(emitter: FunctionEmitter, op: func.FuncOp, entry: EntryPoint) -> None:
    """Refuses sizes with which the other checks would overflow: of arrays larger than memory."""
    builder = emitter.builder
    wrong: ir.Value = ir.Constant(I1, 0)
    for (argument, dimension), largest in entry.sizes.items():
        value = _size(emitter, op.args[argument], dimension)
        limit = min(largest, LARGEST_SIZE)
        above = builder.add(value, constant(limit))
        wrong = builder.or_(wrong, builder.icmp_unsigned(">", above, constant(2 * limit)))
    for argument in op.args:
        if _shape(argument) is None:
            continue
        buffer = emitter.buffer(argument)
        size: ir.Value = constant(size_in_bytes(buffer.element))
        for extent in buffer.sizes:
            product = builder.umul_with_overflow(size, extent)
            size = builder.extract_value(product, 0)
            wrong = builder.or_(wrong, builder.extract_value(product, 1))
        wrong = builder.or_(wrong, builder.icmp_signed("<", size, constant(0)))
    _refuse(emitter, wrong, Status.OUT_OF_BOUNDS)


def _size(emitter: FunctionEmitter, argument: SSAValue, dimension: int | None) -> ir.Value:
    """An integer argument, or an extent of an array, in 64 bits."""
    if dimension is not None:
        return emitter.buffer(argument).sizes[dimension]
    value = emitter.value(argument)
    return value if value.type == I64 else emitter.builder.sext(value, I64)


def _check_pointers(emitter: FunctionEmitter, entry: EntryPoint, op: func.FuncOp) -> None:
    """Refuses NULL for an array that has elements, and is used."""
    builder = emitter.builder
    wrong: ir.Value = ir.Constant(I1, 0)
    for position in entry.used:
        buffer = emitter.buffer(op.args[position])
        missing = builder.icmp_unsigned("==", builder.ptrtoint(buffer.pointer, I64), constant(0))
        exists = _positive(builder, _bytes(emitter, buffer))
        wrong = builder.or_(wrong, builder.and_(missing, exists))
    if entry.used:
        _refuse(emitter, wrong, Status.NULL_POINTER)


def _check_sizes(emitter: FunctionEmitter, op: func.FuncOp, entry: EntryPoint) -> None:
    if entry.fits is None:
        return
    for size, (argument, dimension) in zip(entry.fits.args, entry.sizes, strict=True):
        emitter.values[size] = _size(emitter, op.args[argument], dimension)
    (fits,) = emitter.emit_block(entry.fits.body.block)
    _refuse(emitter, emitter.builder.not_(fits), Status.OUT_OF_BOUNDS)


def _check_alignment(emitter: FunctionEmitter, op: func.FuncOp, entry: EntryPoint) -> None:
    builder = emitter.builder
    bits: ir.Value = constant(0)
    for position in entry.used:
        buffer = emitter.buffer(op.args[position])
        address = builder.ptrtoint(buffer.pointer, I64)
        mask = constant(size_in_bytes(buffer.element) - 1)
        bits = builder.or_(bits, builder.and_(address, mask))
    if entry.used:
        _refuse(emitter, builder.icmp_unsigned("!=", bits, constant(0)), Status.MISALIGNED)


def _check_overlap(emitter: FunctionEmitter, op: func.FuncOp, entry: EntryPoint) -> None:
    """Two arrays overlap where one starts within the other, and that one has any elements."""
    builder = emitter.builder
    wrong: ir.Value = ir.Constant(I1, 0)
    for pair in entry.conflicts:
        first, second = (emitter.buffer(op.args[position]) for position in pair)
        start, other_start = (builder.ptrtoint(b.pointer, I64) for b in (first, second))
        size, other_size = _bytes(emitter, first), _bytes(emitter, second)
        distance = builder.sub(other_start, start)
        within = builder.icmp_unsigned("<", distance, size)
        around = builder.icmp_unsigned("<", builder.neg(distance), other_size)
        within = builder.and_(within, _positive(builder, other_size))
        around = builder.and_(around, _positive(builder, size))
        wrong = builder.or_(wrong, builder.or_(within, around))
    if entry.conflicts:
        _refuse(emitter, wrong, Status.OVERLAP)


def _positive(builder: ir.IRBuilder, size: ir.Value) -> ir.Value:
    return builder.icmp_unsigned("!=", size, constant(0))


def _bytes(emitter: FunctionEmitter, buffer: Buffer) -> ir.Value:
    size: ir.Value = constant(size_in_bytes(buffer.element))
    for extent in buffer.sizes:
        size = integers.multiply(emitter, size, extent)
    return size


def _failures(builder: ir.IRBuilder, counter: ir.Value | None) -> ir.Value:
    if counter is None:
        return constant(0)
    return builder.load_atomic(counter, "monotonic", 8, typ=I64)


def _call(
    emitter: FunctionEmitter, op: func.FuncOp, pointers: list[ir.Value], results: list[ir.Type]
) -> None:
    """Calls the function, and returns whether it had the memory that it needed."""
    builder = emitter.builder
    counter = emitter.module.module.globals.get(FAILED_ALLOCATIONS)
    arguments: list[ir.Value] = []
    for argument in op.args:
        if isa(argument.type, MemRefType):
            buffer = emitter.buffer(argument)
            arguments.append(buffer.pointer)
            extents = zip(buffer.sizes, argument.type.get_shape(), strict=True)
            arguments += [size for size, extent in extents if extent == DYNAMIC_INDEX]
        else:
            arguments.append(emitter.value(argument))
    before = _failures(builder, counter)
    violations = emitter.module.module.globals.get(BOUNDS_VIOLATION)
    violated = _failures(builder, violations)
    function = emitter.module.functions[op.sym_name.data]
    if len(results) == 1:
        store(emitter, builder.call(function, arguments), pointers[0])
    else:
        builder.call(function, [*arguments, *pointers])
    if isinstance(counter, ir.GlobalVariable):
        counter.linkage = "internal"
        failed = builder.icmp_unsigned("!=", _failures(builder, counter), before)
        _refuse(emitter, failed, Status.OUT_OF_MEMORY)
    if isinstance(violations, ir.GlobalVariable):
        violations.linkage = "internal"
        failed = builder.icmp_unsigned("!=", _failures(builder, violations), violated)
        _refuse(emitter, failed, Status.WRONG_SUBSCRIPT)
    builder.ret(ir.Constant(I32, Status.OK.value))
