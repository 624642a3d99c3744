"""Loads and stores of elements; sizes of memrefs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llvmlite import ir
from xdsl.dialects import affine, memref
from xdsl.ir import SSAValue

from ...dialects.affine import PrefetchOp
from ...dialects.errors import SourceError
from ...dialects.memref import is_memref
from ...passes.polyhedral.gathers import depends_on_data, needs_check
from . import integers
from .affine_expressions import emit_map
from .bounds_checks import guard_pointer
from .emitter import Buffer, Emitters, FunctionEmitter, constant, type_of
from .flattened_subscripts import flattened
from .types import I32, I64, POINTER, VOID, scalar_type, size_in_bytes, storage_type


def element_pointer(
    emitter: FunctionEmitter,
    buffer: Buffer,
    subscripts: Sequence[ir.Value],
    *,
    inbounds: bool = True,
    by_row: bool = False,
) -> ir.Value:
    """The address of an element, `inbounds` when the element is known to exist.

    With `by_row`, the address of the row is a value of its own: LLVM then finds out which elements
    of a row the iteration before has loaded. One offset is better for explicit vectors.
    """
    if not subscripts:
        return buffer.pointer
    offset = subscripts[0]
    for subscript, size in zip(subscripts[1:-1], buffer.sizes[1:-1], strict=True):
        offset = integers.add(emitter, integers.multiply(emitter, offset, size), subscript)
    pointer, kind = buffer.pointer, storage_type(buffer.element)
    if len(subscripts) > 1:
        offset = integers.multiply(emitter, offset, buffer.sizes[-1])
        if by_row:
            pointer = emitter.builder.gep(pointer, [offset], inbounds=inbounds, source_etype=kind)
            offset = subscripts[-1]
        else:
            offset = integers.add(emitter, offset, subscripts[-1])
    return emitter.builder.gep(pointer, [offset], inbounds=inbounds, source_etype=kind)


def from_storage(emitter: FunctionEmitter, stored: ir.Value, wanted: ir.Type) -> ir.Value:
    """A value as loaded, for use in a register: bytes become booleans."""
    if stored.type == wanted:
        return stored
    return emitter.builder.icmp_unsigned("!=", stored, ir.Constant(stored.type, None))


def to_storage(emitter: FunctionEmitter, value: ir.Value) -> ir.Value:
    """A value as it is stored: booleans become bytes."""
    stored = storage_type(value.type)
    return value if stored == value.type else emitter.builder.zext(value, stored)


def load(
    emitter: FunctionEmitter, pointer: ir.Value, wanted: ir.Type, alignment: int | None = None
) -> ir.Value:
    """Loads a scalar or contiguous vector; alignment in bytes, by default that of an element."""
    alignment = alignment or size_in_bytes(scalar_type(wanted))
    stored = emitter.builder.load(pointer, align=alignment, typ=storage_type(wanted))
    return from_storage(emitter, stored, wanted)


def store(
    emitter: FunctionEmitter, value: ir.Value, pointer: ir.Value, alignment: int | None = None
) -> None:
    """Stores a scalar or contiguous vector; alignment in bytes, by default that of an element."""
    alignment = alignment or size_in_bytes(scalar_type(value.type))
    emitter.builder.store(to_storage(emitter, value), pointer, align=alignment)


def affine_pointer(
    emitter: FunctionEmitter,
    op: affine.LoadOp | affine.StoreOp | affine.VectorLoadOp | affine.VectorStoreOp | PrefetchOp,
    *,
    accessed: ir.Type | None,
    by_row: bool = False,
) -> ir.Value:
    """The address of an affine access to what has the type `accessed`; see `element_pointer`.

    With None, nothing is accessed, and there need be no such element.
    """
    operands, buffer = emitter.all_values(op.indices), emitter.buffer(op.memref)
    subscripts = emit_map(emitter, op, op.map.data, operands)
    if accessed is None:
        return element_pointer(emitter, buffer, subscripts, inbounds=False)
    assert is_memref(op.memref.type)
    flat = flattened(op.map.data, op.memref.type.get_shape())
    if flat is None:
        pointer = element_pointer(emitter, buffer, subscripts, by_row=by_row)
    else:
        *outer, rows, columns = buffer.sizes
        sizes = (*outer, integers.multiply(emitter, rows, columns))
        elements = emit_map(emitter, op, flat, operands)
        pointer = element_pointer(emitter, replace(buffer, sizes=sizes), elements)
    is_element = isinstance(op, affine.LoadOp | affine.StoreOp)
    always = is_element and any(map(depends_on_data, op.indices))
    return guard_pointer(emitter, op.memref, subscripts, pointer, accessed, always=always)


def emit_affine_load(emitter: FunctionEmitter, op: affine.LoadOp) -> None:
    kind = type_of(op.result)
    pointer = affine_pointer(emitter, op, accessed=kind, by_row=True)
    emitter.values[op.result] = load(emitter, pointer, kind)


def emit_affine_store(emitter: FunctionEmitter, op: affine.StoreOp) -> None:
    value = emitter.value(op.value)
    store(emitter, value, affine_pointer(emitter, op, accessed=value.type, by_row=True))


def emit_prefetch(emitter: FunctionEmitter, op: PrefetchOp) -> None:
    # A prefetch may name an element that does not exist.
    pointer = affine_pointer(emitter, op, accessed=None)
    is_write, is_data = (flag.value.data != 0 for flag in (op.is_write, op.is_data_cache))
    numbers = (is_write, op.locality_hint.value.data, is_data)
    hints = [ir.Constant(I32, int(number)) for number in numbers]
    emitter.call_intrinsic("llvm.prefetch", [pointer, *hints], VOID, [POINTER])


def accessed_pointer(
    emitter: FunctionEmitter,
    base: SSAValue,
    indices: Sequence[SSAValue],
    accessed: ir.Type,
    *,
    always_checked: bool = False,
) -> ir.Value:
    """The address of a scalar or whole vector of this type at the subscripts."""
    subscripts = emitter.all_values(indices)
    pointer = element_pointer(emitter, emitter.buffer(base), subscripts)
    return guard_pointer(emitter, base, subscripts, pointer, accessed, always=always_checked)


def emit_load(emitter: FunctionEmitter, op: memref.LoadOp) -> None:
    kind = type_of(op.res)
    always = needs_check(op, op.indices)
    pointer = accessed_pointer(emitter, op.memref, op.indices, kind, always_checked=always)
    emitter.values[op.res] = load(emitter, pointer, kind)


def emit_store(emitter: FunctionEmitter, op: memref.StoreOp) -> None:
    value = emitter.value(op.value)
    store(emitter, value, accessed_pointer(emitter, op.memref, op.indices, value.type))


def emit_dim(emitter: FunctionEmitter, op: memref.DimOp) -> None:
    sizes = emitter.buffer(op.source).sizes
    position = integers.known(emitter.value(op.index))
    if position is None or not 0 <= position < len(sizes):
        raise SourceError.at(op, "the dimension must be a constant below the memref's rank")
    emitter.values[op.result] = sizes[position]


def emit_cast(emitter: FunctionEmitter, op: memref.CastOp) -> None:
    buffer = emitter.buffer(op.source)
    type_of(op.dest)
    emitter.buffers[op.dest] = buffer


def emit_subview(emitter: FunctionEmitter, op: memref.SubviewOp) -> None:
    """The part of an array behind its first subscripts, as code generation makes it."""
    buffer = emitter.buffer(op.source)
    first = emitter.all_values(op.offsets)
    whole = [constant(0) for _ in buffer.sizes[len(first) :]]
    pointer = element_pointer(emitter, buffer, [*first, *whole])
    emitter.buffers[op.result] = Buffer(pointer, buffer.sizes[len(first) :], buffer.element)


def emit_address(emitter: FunctionEmitter, op: memref.ExtractAlignedPointerAsIndexOp) -> None:
    pointer = emitter.buffer(op.source).pointer
    emitter.values[op.aligned_pointer] = emitter.builder.ptrtoint(pointer, I64)


EMITTERS: Emitters = {
    "affine.load": emit_affine_load,
    "affine.store": emit_affine_store,
    "affine.prefetch": emit_prefetch,
    "memref.load": emit_load,
    "memref.store": emit_store,
    "memref.dim": emit_dim,
    "memref.extract_aligned_pointer_as_index": emit_address,
    "memref.cast": emit_cast,
    "memref.subview": emit_subview,
}
