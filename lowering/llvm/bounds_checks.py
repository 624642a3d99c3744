"""Bounds-checked build: a check of the subscripts before each access, in all builds of gathers.

    x = A[i, j]    ->    if not (0 <= i < M and 0 <= j < N): note("A", ...)
                         x = *(that holds ? &A[i, j] : &scratch)

The code goes on after a violation, with meaningless values, and leaves no array: a scalar or whole
vector goes to a scratch slot of the function instead, lanes outside are masked off. The first
violation stays in a record of the module until the caller has taken it. In an opaque region all
subscripts are checked, and the region ends at a violation: its loops may depend on what was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain

from llvmlite import ir
from xdsl.ir import SSAValue

from ...dialects.locations import name_of
from . import integers
from .emitter import FunctionEmitter, constant
from .module import ModuleEmitter
from .names import BOUNDS_VIOLATION, ELEMENT_NUMBER
from .types import I1, I8, I32, I64, POINTER, VOID, scalar_type, size_in_bytes, storage_type
from .values import splat

RECORD = ir.LiteralStructType([I64, POINTER, I64, I64, I64])
"""The type of the record BOUNDS_VIOLATION."""


@dataclass(frozen=True)
class _Check:
    """One subscript and the extent that it must stay below; `holds` says whether it does."""

    dimension: int
    subscript: ir.Value
    extent: ir.Value
    holds: ir.Value


def guard_pointer(
    emitter: FunctionEmitter,
    memref: SSAValue,
    subscripts: Sequence[ir.Value],
    pointer: ir.Value,
    accessed: ir.Type,
    *,
    always: bool = False,
) -> ir.Value:
    """Where a scalar or vector is really accessed that belongs to `pointer`.

    Checked in a bounds-checked build, or `always`.
    """
    always = always or emitter.stop is not None
    if not (always or emitter.module.options.check_bounds) or not subscripts:
        return pointer
    builder = emitter.builder
    width = accessed.count if isinstance(accessed, ir.VectorType) else 1
    checks = _checks(emitter, memref, subscripts)
    last = checks[-1]
    if width > 1:
        end = integers.add(emitter, last.subscript, constant(width - 1))
        inside = builder.icmp_signed(">=", last.subscript, constant(0))
        inside = builder.and_(inside, builder.icmp_signed("<", end, last.extent))
        reached = builder.select(last.holds, end, last.subscript)
        checks[-1] = _Check(last.dimension, reached, last.extent, inside)
    holds = reduce(builder.and_, (check.holds for check in checks))
    _note_unless(emitter, memref, holds, checks)
    if emitter.stop is not None:
        return pointer
    return builder.select(holds, pointer, _scratch(emitter, width, accessed))


def guard_mask(
    emitter: FunctionEmitter,
    memref: SSAValue,
    subscripts: Sequence[ir.Value],
    mask: ir.Value,
    offsets: ir.Value | None = None,
    *,
    always: bool = False,
) -> ir.Value:
    """The lanes of a mask in which elements of a row may be accessed: neighbours without offsets.

    Checked in a bounds-checked build, or `always`.
    """
    if not (always or emitter.module.options.check_bounds):
        return mask
    *outer, last = _checks(emitter, memref, subscripts)
    lanes = _lanes(emitter, last.subscript, offsets, mask)
    return _guard_lanes(emitter, memref, outer, last.dimension, lanes, last.extent, mask)


def guard_offsets(
    emitter: FunctionEmitter,
    memref: SSAValue,
    subscripts: Sequence[ir.Value],
    offsets: ir.Value,
    mask: ir.Value,
) -> ir.Value:
    """The lanes of a mask whose elements, at offsets from the one at the subscripts, exist."""
    if not emitter.module.options.check_bounds:
        return mask
    sizes = emitter.buffer(memref).sizes
    first, count = constant(0), constant(1)
    for subscript, size in zip(subscripts, sizes, strict=True):
        first = integers.add(emitter, integers.multiply(emitter, first, size), subscript)
        count = integers.multiply(emitter, count, size)
    lanes = _lanes(emitter, first, offsets, mask)
    return _guard_lanes(emitter, memref, (), ELEMENT_NUMBER, lanes, count, mask)


def _checks(
    emitter: FunctionEmitter, memref: SSAValue, subscripts: Sequence[ir.Value]
) -> list[_Check]:
    # Compared without signs, a negative number is larger than any extent.
    sizes = emitter.buffer(memref).sizes
    return [
        _Check(k, subscript, size, emitter.builder.icmp_unsigned("<", subscript, size))
        for k, (subscript, size) in enumerate(zip(subscripts, sizes, strict=True))
    ]


def _lanes(
    emitter: FunctionEmitter, first: ir.Value, offsets: ir.Value | None, mask: ir.Value
) -> ir.Value:
    assert isinstance(mask.type, ir.VectorType)
    if offsets is None:
        numbers = [constant(lane) for lane in range(mask.type.count)]
        offsets = ir.Constant(ir.VectorType(I64, mask.type.count), numbers)
    return emitter.builder.add(splat(emitter, first, mask.type.count), offsets)


def _guard_lanes(
    emitter: FunctionEmitter,
    memref: SSAValue,
    outer: Sequence[_Check],
    dimension: int,
    lanes: ir.Value,
    extent: ir.Value,
    mask: ir.Value,
) -> ir.Value:
    builder = emitter.builder
    assert isinstance(mask.type, ir.VectorType)
    count = mask.type.count
    inside = builder.icmp_unsigned("<", lanes, splat(emitter, extent, count))
    if outer:
        rows = reduce(builder.and_, (check.holds for check in outer))
        inside = builder.and_(inside, splat(emitter, rows, count))
    allowed = builder.and_(mask, inside)
    bits = ir.IntType(count)
    outside = builder.bitcast(builder.xor(mask, allowed), bits)
    holds = builder.icmp_unsigned("==", outside, ir.Constant(bits, 0))
    lane = emitter.call_intrinsic("llvm.cttz", [outside, ir.Constant(I1, 0)], bits, [bits])
    lane = builder.select(holds, ir.Constant(bits, 0), lane)
    subscript = builder.extract_element(lanes, lane)
    _note_unless(emitter, memref, holds, [*outer, _Check(dimension, subscript, extent, holds)])
    return allowed


def _note_unless(
    emitter: FunctionEmitter, memref: SSAValue, holds: ir.Value, checks: Sequence[_Check]
) -> None:
    """Notes the first of the checks that does not hold, where `holds` is false."""
    builder = emitter.builder
    violated, checked = emitter.block("violated"), emitter.block("checked")
    builder.cbranch(holds, checked, violated)
    builder.position_at_end(violated)
    # Which one it is, is found out of line: here, it would be computed ahead of the branch.
    name = _text(emitter.module, name_of(memref).removeprefix("%"))
    found = (
        (check.holds, constant(check.dimension), check.subscript, check.extent) for check in checks
    )
    builder.call(_note(emitter.module, len(checks)), [name, *chain.from_iterable(found)])
    builder.branch(emitter.stop or checked)
    builder.position_at_end(checked)


def _scratch(emitter: FunctionEmitter, width: int, accessed: ir.Type) -> ir.Value:
    """A slot that takes the place of what is not there."""
    size = width * size_in_bytes(scalar_type(storage_type(accessed)))
    if size not in emitter.scratch:
        slot = emitter.slots.alloca(ir.ArrayType(I8, size))
        slot.align = 64
        slot.type = POINTER
        emitter.scratch[size] = slot
    return emitter.scratch[size]


def _text(module: ModuleEmitter, text: str) -> ir.Value:
    """A constant C string."""
    name = f"{BOUNDS_VIOLATION}.{text}"
    existing = module.module.globals.get(name)
    if existing is not None:
        return existing
    data = [ir.Constant(I8, byte) for byte in text.encode() + b"\0"]
    kind = ir.ArrayType(I8, len(data))
    variable = ir.GlobalVariable(module.module, kind, name)
    variable.linkage, variable.initializer = "internal", ir.Constant(kind, data)
    variable.type = POINTER
    return variable


def _note(module: ModuleEmitter, checks: int) -> ir.Function:
    """The function that fills the record with the first of some checks that does not hold."""
    name = f"{BOUNDS_VIOLATION}.note{checks}"
    existing = module.module.globals.get(name)
    if isinstance(existing, ir.Function):
        return existing
    kinds = [POINTER, *[I1, I64, I64, I64] * checks]
    function = module.define(name, ir.FunctionType(VOID, kinds), public=False)
    set[str].update(function.attributes, ("noinline", "cold"))
    entry, first, done = (function.append_basic_block(k) for k in ("entry", "first", "done"))
    record = _record(module)
    builder = ir.IRBuilder(entry)
    taken = builder.atomic_rmw("add", record, constant(1), "monotonic")
    builder.cbranch(builder.icmp_unsigned("==", taken, constant(0)), first, done)
    builder.position_at_end(first)
    text, *arguments = function.args
    *before, last = zip(*[iter(arguments)] * 4, strict=True)
    found = last[1:]
    for holds, *own in reversed(before):
        found = [builder.select(holds, other, mine) for mine, other in zip(own, found, strict=True)]
    for position, value in enumerate((text, *found), start=1):
        indices = [ir.Constant(I32, k) for k in (0, position)]
        builder.store(value, builder.gep(record, indices, source_etype=RECORD))
    builder.branch(done)
    builder.position_at_end(done)
    builder.ret_void()
    return function


def _record(module: ModuleEmitter) -> ir.GlobalVariable:
    """The record of a module."""
    existing = module.module.globals.get(BOUNDS_VIOLATION)
    if isinstance(existing, ir.GlobalVariable):
        return existing
    record = ir.GlobalVariable(module.module, RECORD, BOUNDS_VIOLATION)
    record.initializer = ir.Constant(RECORD, None)
    record.type = POINTER  # llvmlite's own type lets only whole records be stored
    return record
