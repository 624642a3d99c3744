"""Loads, stores and allocation of arrays in C."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import affine, func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects.errors import SourceError
from ...dialects.memref import behind_views
from .affine_expressions import apply_map
from .c_expressions import ATOM, Expression, assignment, integer, unary
from .helpers import ALLOCATE
from .printer import Array, Emitters, Printer
from .types import size_in_bytes

STACK_BYTES = 16 << 10
"""Larger arrays go to the heap."""


def element(array: Array, subscripts: Sequence[Expression]) -> str:
    """`A[i][j + 1]`, or the variable itself."""
    if not subscripts:
        return array.name if array.is_scalar else f"{array.name}[0]"
    return array.name + "".join(f"[{subscript}]" for subscript in subscripts)


def _load(
    printer: Printer, result: SSAValue, array: SSAValue, subscripts: Sequence[Expression]
) -> None:
    reads = frozenset((behind_views(array),)).union(*(subscript.reads for subscript in subscripts))
    read = Expression(element(printer.array(array), subscripts), ATOM, reads)
    kind = printer.array(array).read_as
    if kind is not None:
        read = replace(unary(f"({kind})", read), unsigned=read)
    printer.define(result, read)


def _store(
    printer: Printer, value: SSAValue, array: SSAValue, subscripts: Sequence[Expression]
) -> None:
    stored = printer.value(value)
    printer.before_write(array)
    printer.line(assignment(element(printer.array(array), subscripts), stored))


def emit_affine_load(printer: Printer, op: affine.LoadOp) -> None:
    _load(printer, op.result, op.memref, apply_map(printer, op, op.map.data, op.indices))


def emit_affine_store(printer: Printer, op: affine.StoreOp) -> None:
    _store(printer, op.value, op.memref, apply_map(printer, op, op.map.data, op.indices))


def emit_load(printer: Printer, op: memref.LoadOp) -> None:
    _load(printer, op.res, op.memref, printer.all_values(op.indices))


def emit_store(printer: Printer, op: memref.StoreOp) -> None:
    _store(printer, op.value, op.memref, printer.all_values(op.indices))


def emit_dim(printer: Printer, op: memref.DimOp) -> None:
    extents = printer.array(op.source).extents
    position = printer.value(op.index).constant
    if position is None or not 0 <= position < len(extents):
        raise SourceError.at(op, "the dimension must be a constant below the memref's rank")
    printer.define(op.result, extents[position], trivial=True)


def emit_cast(printer: Printer, op: memref.CastOp) -> None:
    printer.type(op.dest)
    printer.arrays[op.dest] = printer.array(op.source)


def emit_subview(printer: Printer, op: memref.SubviewOp) -> None:
    """`A[i]`: the part of an array behind its first subscripts."""
    array, first = printer.array(op.source), printer.all_values(op.offsets)
    rest = array.extents[len(first) :]
    printer.arrays[op.result] = Array(element(array, first), rest, is_scalar=not rest)


def emit_allocation(printer: Printer, op: memref.AllocOp | memref.AllocaOp) -> None:
    kind = printer.type(op.memref)
    name = printer.names.take(op.memref.name_hint, "buffer")
    extents = _extents(printer, op, name)
    constants = [extent.constant for extent in extents]
    sizes = [constant for constant in constants if constant is not None]
    dimensions = "".join(f"[{extent}]" for extent in extents)
    small = math.prod(sizes) * size_in_bytes(kind) <= STACK_BYTES and 0 not in sizes
    if len(sizes) == len(extents) and small:
        printer.line(f"{kind} {name}{dimensions};")
    else:
        allocate = printer.unit.helper(ALLOCATE)
        rows = "".join(f"[{extent}]" for extent in extents[1:])
        pointer = f"(*{name}){rows}" if rows else f"*{name}"
        printer.line(f"{kind} {pointer} = {allocate}(sizeof({kind}{dimensions}));")
        printer.at_end_of_block(f"free({name});")
    printer.arrays[op.memref] = Array(name, extents, is_scalar=not extents)
    if not any(_reads(printer, use.operation) for use in op.memref.uses):
        # Compilers warn of a variable that is only written.
        printer.line(f"(void){name};")


def _reads(printer: Printer, user: Operation) -> bool:
    if isinstance(user, affine.LoadOp | memref.LoadOp):
        return user.results[0] in printer.needed and not _only_updates(user)
    return isinstance(user, memref.CastOp | memref.SubviewOp | func.CallOp)


def _only_updates(load: affine.LoadOp | memref.LoadOp) -> bool:
    """Whether the value is for one operation, whose result is stored to the same memref alone."""
    value = load.results[0]
    for _ in range(2):
        uses = list(value.uses)
        if len(uses) != 1:
            return False
        user = uses[0].operation
        if isinstance(user, affine.StoreOp | memref.StoreOp):
            return user.memref is load.memref
        if len(user.results) != 1:
            return False
        value = user.results[0]
    return False


def _extents(
    printer: Printer, op: memref.AllocOp | memref.AllocaOp, name: str
) -> tuple[Expression, ...]:
    assert isa(op.memref.type, MemRefType)
    dynamic = iter(printer.all_values(op.dynamic_sizes))
    return tuple(
        _named(printer, next(dynamic), f"{name}_dim{position}")
        if extent == DYNAMIC_INDEX
        else integer(extent)
        for position, extent in enumerate(op.memref.type.get_shape())
    )


def _named(printer: Printer, extent: Expression, hint: str) -> Expression:
    """An extent that can be repeated: a constant or the name of a variable."""
    if extent.precedence == ATOM and not extent.reads:
        return extent
    name = printer.names.take(hint, "extent")
    printer.line(f"const int64_t {name} = {extent};")
    return Expression(name)


def emit_dealloc(printer: Printer, op: memref.DeallocOp) -> None:
    """Nothing: the memory is freed at the end of its block."""


EMITTERS: Emitters = {
    "affine.load": emit_affine_load,
    "affine.store": emit_affine_store,
    "memref.load": emit_load,
    "memref.store": emit_store,
    "memref.dim": emit_dim,
    "memref.cast": emit_cast,
    "memref.subview": emit_subview,
    "memref.alloc": emit_allocation,
    "memref.alloca": emit_allocation,
    "memref.dealloc": emit_dealloc,
}
