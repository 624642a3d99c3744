"""Vector loads and stores: contiguous, masked, gather and scatter.

Vectors are aligned to their element unless the operation's `alignment` attribute says more.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from xdsl.dialects import affine, memref, vector
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.vector import GatherOp, ScatterOp
from ...passes.estimate.strided_accesses import LARGEST_STRIDE
from ...passes.polyhedral.gathers import needs_check
from ..memory.interleaved_stores import InterleavedStores
from ..memory.known_lanes import lanes_of, stride_of, varying_mask
from . import integers
from .bounds_checks import guard_mask, guard_offsets
from .emitter import Emitters, FunctionEmitter, constant, type_of
from .leading_lanes import leading_lanes, load_leading, store_leading
from .masked_rows import load_masked_columns, store_masked_rows
from .memory import (
    accessed_pointer,
    affine_pointer,
    element_pointer,
    from_storage,
    load,
    store,
    to_storage,
)
from .reversed_rows import emit_reversed_load, emit_reversed_store
from .strided_accesses import (
    concatenated,
    load_columns,
    load_strided,
    shuffled,
    store_interleaved,
)
from .transposed_loads import TransposedLoads
from .transposed_stores import TransposedStores
from .transposition import CHUNK_BYTES, transpose
from .types import I1, I32, I64, POINTER, VOID, scalar_type, size_in_bytes, storage_type
from .unrolling import LOOPS
from .values import shuffle_mask

STREAMED_BYTES = 16
"""What streaming stores are made of, and aligned to: NumPy's arrays are aligned to no more."""


def _alignment(op: Operation, value: ir.Type) -> int:
    stated = op.attributes.get("alignment", op.properties.get("alignment"))
    minimum = size_in_bytes(scalar_type(value))
    return max(minimum, stated.value.data) if isinstance(stated, IntegerAttr) else minimum


def emit_affine_vector_load(emitter: FunctionEmitter, op: affine.VectorLoadOp) -> None:
    if op in emitter.loaded:
        return
    emitter.loaded.add(op)
    shifted = emitter.shifted_load(op)
    if shifted is None:
        kind = type_of(op.result)
        pointer = affine_pointer(emitter, op, accessed=kind)
        emitter.values[op.result] = load(emitter, pointer, kind, _alignment(op, kind))
        return
    emit_affine_vector_load(emitter, shifted.low)
    emit_affine_vector_load(emitter, shifted.high)
    low, high = emitter.all_values((shifted.low.result, shifted.high.result))
    emitter.values[op.result] = _elements_from(emitter, low, high, shifted.shift)


def _elements_from(emitter: FunctionEmitter, low: ir.Value, high: ir.Value, first: int) -> ir.Value:
    """As many elements as a vector has, from number `first` of two vectors on."""
    assert isinstance(low.type, ir.VectorType)
    mask = shuffle_mask(tuple(range(first, first + low.type.count)))
    return emitter.builder.shuffle_vector(low, high, mask)


def emit_affine_vector_store(emitter: FunctionEmitter, op: affine.VectorStoreOp) -> None:
    value = emitter.value(op.value)
    pointer = affine_pointer(emitter, op, accessed=value.type)
    if "nontemporal" in op.attributes and emitter.module.can_stream:
        _store_past_caches(emitter, value, pointer)
    else:
        store(emitter, value, pointer, _alignment(op, value.type))


def _store_past_caches(emitter: FunctionEmitter, value: ir.Value, pointer: ir.Value) -> None:
    """A store that does not read the line first, which the processor has for aligned data only."""
    builder = emitter.builder
    emitter.streams = True
    past, usual, end = (emitter.block(name) for name in ("past", "usual", "stored"))
    offset = builder.and_(builder.ptrtoint(pointer, I64), ir.Constant(I64, STREAMED_BYTES - 1))
    builder.cbranch(builder.icmp_unsigned("==", offset, ir.Constant(I64, 0)), past, usual)
    builder.position_at_end(past)
    stored = to_storage(emitter, value)
    streamed = builder.store(stored, pointer, align=STREAMED_BYTES)
    streamed.set_metadata("nontemporal", emitter.module.module.add_metadata([ir.Constant(I32, 1)]))
    builder.branch(end)
    builder.position_at_end(usual)
    store(emitter, value, pointer)
    builder.branch(end)
    builder.position_at_end(end)


def emit_vector_load(emitter: FunctionEmitter, op: vector.LoadOp) -> None:
    kind = type_of(op.result)
    pointer = accessed_pointer(emitter, op.base, op.indices, kind)
    emitter.values[op.result] = load(emitter, pointer, kind, _alignment(op, kind))


def emit_vector_store(emitter: FunctionEmitter, op: vector.StoreOp) -> None:
    value = emitter.value(op.vector)
    pointer = accessed_pointer(emitter, op.base, op.indices, value.type)
    store(emitter, value, pointer, _alignment(op, value.type))


def _pointer(emitter: FunctionEmitter, base: SSAValue, subscripts: Sequence[SSAValue]) -> ir.Value:
    """Where a masked vector begins. With all lanes off, the address may be anywhere."""
    return _place(emitter, base, subscripts, 0)[0]


def _place(
    emitter: FunctionEmitter, base: SSAValue, subscripts: Sequence[SSAValue], first: int
) -> tuple[ir.Value, list[ir.Value]]:
    """Address and subscripts of the element that is so many behind the one at the subscripts."""
    values = [*emitter.all_values(subscripts)]
    if first:
        values[-1] = integers.add(emitter, values[-1], constant(first))
    return element_pointer(emitter, emitter.buffer(base), values, inbounds=False), values


def emit_masked_load(emitter: FunctionEmitter, op: vector.MaskedLoadOp) -> None:
    _masked_load(emitter, op, op.base, op.indices, op.mask, op.pass_thru)


def emit_masked_store(emitter: FunctionEmitter, op: vector.MaskedStoreOp) -> None:
    _masked_store(emitter, op, op.base, op.indices, op.mask, op.value_to_store)


def _masked_load(
    emitter: FunctionEmitter,
    op: Operation,
    base: SSAValue,
    subscripts: Sequence[SSAValue],
    mask: SSAValue,
    otherwise: SSAValue,
    first: int = 0,
    *,
    is_checked: bool = False,
) -> None:
    pointer, places = _place(emitter, base, subscripts, first)
    default = emitter.value(otherwise)
    stored = to_storage(emitter, default)
    count = leading_lanes(lanes_of(mask))
    at_once = _is_handed_over(op, base)
    is_masked = is_checked or _masks_loads(emitter, stored.type, count, at_once=at_once)
    if count is not None and not is_masked:
        alignment = _alignment(op, stored.type)
        loaded = load_leading(emitter, pointer, stored, count, alignment, at_once=at_once)
        emitter.values[op.results[0]] = from_storage(emitter, loaded, default.type)
        return
    active = guard_mask(emitter, base, places, emitter.value(mask), always=is_checked)
    loaded = emitter.call_intrinsic(
        "llvm.masked.load",
        [pointer, ir.Constant(I32, _alignment(op, stored.type)), active, stored],
        stored.type,
        [stored.type, POINTER],
    )
    emitter.values[op.results[0]] = from_storage(emitter, loaded, default.type)


def _masked_store(
    emitter: FunctionEmitter,
    op: Operation,
    base: SSAValue,
    subscripts: Sequence[SSAValue],
    mask: SSAValue,
    value: SSAValue,
    first: int = 0,
) -> None:
    pointer, places = _place(emitter, base, subscripts, first)
    stored = to_storage(emitter, emitter.value(value))
    count = leading_lanes(lanes_of(mask))
    if count is not None and not _masks_stores(emitter, stored.type, count, base):
        alignment = _alignment(op, stored.type)
        store_leading(emitter, stored, pointer, count, alignment, at_once=_is_handed_over(op, base))
        return
    active = guard_mask(emitter, base, places, emitter.value(mask))
    emitter.call_intrinsic(
        "llvm.masked.store",
        [stored, pointer, ir.Constant(I32, _alignment(op, stored.type)), active],
        VOID,
        [stored.type, POINTER],
    )


def _is_handed_over(op: Operation, base: SSAValue) -> bool:
    """Whether private elements are stored and loaded by the same iteration of a loop, as scalars.

    Both with the same subscripts and mask.
    """
    if not isinstance(base.owner, memref.AllocaOp):
        return False
    place, loop = _place_and_mask(op), _loop_around(op)
    return any(
        isinstance(use.operation, vector.MaskedLoadOp | vector.MaskedStoreOp)
        and type(use.operation) is not type(op)
        and _place_and_mask(use.operation) == place
        and _loop_around(use.operation) is loop
        for use in base.uses
    )


def _place_and_mask(op: Operation) -> tuple[SSAValue, ...]:
    return tuple(op.operands[:-1])


def _loop_around(op: Operation) -> Operation | None:
    parent = op.parent_op()
    while parent is not None and parent.name not in LOOPS:
        parent = parent.parent_op()
    return parent


def _masks_loads(
    emitter: FunctionEmitter, kind: ir.Type, count: int | None = None, *, at_once: bool = False
) -> bool:
    """Whether loads of a known number of lanes have masks; the checks of bounds need them.

    A power of two of leading lanes is a shorter vector, without a mask; so are those `at_once`.
    """
    module = emitter.module
    is_shorter = at_once or (count is not None and count.bit_count() == 1)
    has_masks = module.target.has_masked_loads(size_in_bytes(scalar_type(kind)))
    return module.options.check_bounds or (has_masks and not is_shorter)


def _is_load(operation: Operation) -> bool:
    return bool(operation.results) and not isinstance(operation, memref.DimOp)


def _masks_stores(
    emitter: FunctionEmitter,
    kind: ir.Type,
    count: int | None = None,
    base: SSAValue | None = None,
) -> bool:
    """The same for stores; those of leading lanes to a memref that is loaded have none.

    What is loaded from beside what was stored under a mask waits for it: the next row, as well.
    """
    module = emitter.module
    is_shorter = count is not None and count.bit_count() == 1
    is_loaded = base is not None and any(_is_load(use.operation) for use in base.uses)
    has_masks = module.target.has_masked_stores(size_in_bytes(scalar_type(kind)))
    return module.options.check_bounds or (has_masks and not is_shorter and not is_loaded)


def _pointers(emitter: FunctionEmitter, op: Operation) -> tuple[ir.Value, Sequence[ir.Value]]:
    """The addresses of a gather or scatter, and its last two operands: mask and vector.

    Its operands are the memref, a subscript for each dimension, the offsets in elements from the
    element these select, the mask, and what is taken for lanes that are off or is stored.
    """
    base, *rest = op.operands
    *subscripts, offsets, mask, value = rest
    buffer = emitter.buffer(base)
    pointer = _pointer(emitter, base, subscripts)
    positions = emitter.value(offsets)
    assert isinstance(positions.type, ir.VectorType)
    addresses = emitter.builder.gep(pointer, [positions], source_etype=storage_type(buffer.element))
    # llvmlite does not know that a vector of offsets makes a vector of addresses.
    addresses.type = ir.VectorType(POINTER, positions.type.count)
    places, active = emitter.all_values(subscripts), emitter.value(mask)
    if needs_check(op, (*subscripts, offsets)):
        active = guard_mask(emitter, base, places, active, positions, always=True)
    else:
        active = guard_offsets(emitter, base, places, positions, active)
    return addresses, (active, emitter.value(value))


def _first_of_row(emitter: FunctionEmitter, op: GatherOp | ScatterOp) -> int | None:
    """The first offset of a gather or scatter whose lanes are neighbouring elements.

    Those of several rows are checked one by one in a bounds-checked build.
    """
    known = constant_lanes(op.index_vec)
    if known is None or known != tuple(range(known[0], known[0] + len(known))):
        return None
    extent = integers.known(emitter.buffer(op.base).sizes[-1])
    is_in_several = extent is not None and extent <= known[-1]
    return None if is_in_several and emitter.module.options.check_bounds else known[0]


def emit_gather(emitter: FunctionEmitter, op: GatherOp) -> None:
    if op in emitter.loaded:
        _pass_through(emitter, op)
        return
    emitter.loaded.add(op)
    first = _first_of_row(emitter, op)
    if needs_check(op, (*op.indices, op.index_vec)):
        if first == 0:
            _emit_row(emitter, op)
            return
    elif _emit_strided(emitter, op):
        _pass_through(emitter, op)
        return
    elif emit_reversed_load(emitter, op):
        return
    elif (group := emitter.transposed_loads(op)) is not None:
        _emit_transposed(emitter, op, group)
        return
    elif first is not None:
        _masked_load(emitter, op, op.base, op.indices, op.mask, op.pass_thru, first)
        return
    addresses, (mask, otherwise) = _pointers(emitter, op)
    stored = to_storage(emitter, otherwise)
    loaded = emitter.call_intrinsic(
        "llvm.masked.gather",
        [addresses, ir.Constant(I32, _alignment(op, stored.type)), mask, stored],
        stored.type,
        [stored.type, addresses.type],
    )
    emitter.values[op.result] = from_storage(emitter, loaded, otherwise.type)


def _emit_row(emitter: FunctionEmitter, op: GatherOp) -> None:
    """Neighbours in a row that depends on data: one check for all lanes, where all are on."""
    kind = type_of(op.result)
    if varying_mask(op.mask) is None:
        pointer = accessed_pointer(emitter, op.base, op.indices, kind, always_checked=True)
        emitter.values[op.result] = load(emitter, pointer, kind, _alignment(op, kind))
    else:
        _masked_load(emitter, op, op.base, op.indices, op.mask, op.pass_thru, is_checked=True)


def _emit_strided(emitter: FunctionEmitter, op: GatherOp) -> bool:
    """A gather of elements a small stride apart as loads and shuffles, where that is possible."""
    stride = stride_of(constant_lanes(op.index_vec))
    if stride is None or emitter.module.options.check_bounds:
        return False
    kind, mask = type_of(op.result), varying_mask(op.mask)
    assert isinstance(kind, ir.VectorType)
    group = emitter.interleaved_loads(op)
    if group is None and (mask is not None or abs(stride) > LARGEST_STRIDE):
        return False
    if mask is not None and not _masks_loads(emitter, storage_type(kind)):
        return False
    pointer, alignment = _pointer(emitter, op.base, op.indices), _alignment(op, kind)
    if group is None:
        emitter.values[op.result] = load_strided(emitter, pointer, kind, stride, alignment)
        return True
    back = constant(-group.columns[group.gathers.index(op)])
    first = emitter.builder.gep(pointer, [back], source_etype=scalar_type(kind))
    if mask is None:
        vectors = load_columns(emitter, first, kind, group, alignment)
    else:
        active = emitter.value(mask)
        vectors = load_masked_columns(
            emitter, first, kind, stride, group.columns, alignment, active
        )
    for gather, vector_of_column in zip(group.gathers, vectors, strict=True):
        emitter.values[gather.result] = vector_of_column
        emitter.loaded.add(gather)
    return True


def _pass_through(emitter: FunctionEmitter, op: GatherOp) -> None:
    """Of a gather that was loaded with others, what lanes get that are off: it may be known now."""
    group = emitter.interleaved_loads(op)
    if group is not None and group.mask is not None:
        active, loaded, otherwise = emitter.all_values((group.mask, op.result, op.pass_thru))
        emitter.values[op.result] = emitter.builder.select(active, loaded, otherwise)


def _emit_transposed(emitter: FunctionEmitter, op: GatherOp, group: TransposedLoads) -> None:
    """Loads the rows of a group of gathers, one of which is `op`, and transposes them."""
    kind = type_of(op.result)
    alignment = _alignment(op, kind)
    pointer = _pointer(emitter, op.base, op.indices)
    back = group.gathers.index(op)
    width = len(group.gathers)
    assert isinstance(kind, ir.VectorType)
    blocks: list[list[ir.Value]] = []
    piece = CHUNK_BYTES // size_in_bytes(kind.element)
    length = piece if width % piece == 0 else group.lanes.block

    def elements(lane: int, column: int) -> ir.Value:
        register = ir.VectorType(kind.element, length)
        if not group.lanes.active[lane]:
            return ir.Constant(register, None)
        offset = constant(group.lanes.offsets[lane] - back + column)
        place = emitter.builder.gep(pointer, [offset], source_etype=kind.element)
        return _first_elements(emitter, place, register, min(width, length), alignment)

    for lanes in group.lanes.blocks:
        columns: list[ir.Value] = []
        for column in range(0, width, length):
            rows = [
                concatenated(emitter, [elements(lane, column) for lane in lanes[first::length]])
                for first in range(length)
            ]
            columns += transpose(emitter, rows)
        blocks.append(columns)
    for gather, *parts in zip(group.gathers, *blocks, strict=False):
        emitter.values[gather.result] = concatenated(emitter, parts)
        emitter.loaded.add(gather)


def _first_elements(
    emitter: FunctionEmitter, pointer: ir.Value, kind: ir.Type, width: int, alignment: int
) -> ir.Value:
    """A vector of which only the first `width` elements are loaded; the others are zero."""
    assert isinstance(kind, ir.VectorType)
    if width == kind.count:
        return load(emitter, pointer, kind, alignment)
    if not _masks_loads(emitter, kind):
        return load_leading(emitter, pointer, ir.Constant(kind, None), width, alignment)
    lanes = [ir.Constant(I1, int(lane < width)) for lane in range(kind.count)]
    mask = ir.Constant(ir.VectorType(I1, kind.count), lanes)
    arguments = [pointer, ir.Constant(I32, alignment), mask, ir.Constant(kind, None)]
    return emitter.call_intrinsic("llvm.masked.load", arguments, kind, [kind, POINTER])


def emit_scatter(emitter: FunctionEmitter, op: ScatterOp) -> None:
    group = emitter.joined_stores(op)
    if group is not None:
        if op is not group.last:
            return
        if isinstance(group, TransposedStores):
            _store_transposed(emitter, group)
        else:
            _store_rows(emitter, group)
        return
    if emit_reversed_store(emitter, op):
        return
    first = _first_of_row(emitter, op)
    if first is not None:
        _masked_store(emitter, op, op.base, op.indices, op.mask, op.value_to_store, first)
        return
    addresses, (mask, value) = _pointers(emitter, op)
    stored = to_storage(emitter, value)
    emitter.call_intrinsic(
        "llvm.masked.scatter",
        [stored, addresses, ir.Constant(I32, _alignment(op, stored.type)), mask],
        VOID,
        [stored.type, addresses.type],
    )


def _store_transposed(emitter: FunctionEmitter, group: TransposedStores) -> None:
    """Transposes what a group of scatters stores, and stores it as rows."""
    first = group.scatters[0]
    pointer = _pointer(emitter, first.base, first.indices)
    columns = [emitter.value(scatter.value_to_store) for scatter in group.scatters]
    element = scalar_type(columns[0].type)
    alignment = _alignment(first, columns[0].type)
    for lanes in group.lanes.blocks:
        rows = transpose(emitter, [shuffled(emitter, column, column, lanes) for column in columns])
        for lane, row in zip(lanes, rows, strict=True):
            if group.lanes.active[lane]:
                offset = constant(group.lanes.offsets[lane])
                place = emitter.builder.gep(pointer, [offset], source_etype=element)
                store(emitter, row, place, alignment)


def _store_rows(emitter: FunctionEmitter, group: InterleavedStores) -> None:
    first = group.scatters[0]
    pointer = _pointer(emitter, first.base, first.indices)
    columns = {
        column: emitter.value(scatter.value_to_store)
        for column, scatter in zip(group.columns, group.scatters, strict=True)
    }
    kind = columns[0].type
    values = [columns.get(k, ir.Constant(kind, ir.Undefined)) for k in range(group.stride)]
    alignment = _alignment(group.last, kind)
    if not group.needs_mask:
        store_interleaved(emitter, pointer, values, alignment)
    else:
        mask = None if group.mask is None else emitter.value(group.mask)
        store_masked_rows(emitter, pointer, values, columns, alignment, mask)


EMITTERS: Emitters = {
    "affine.vector_load": emit_affine_vector_load,
    "affine.vector_store": emit_affine_vector_store,
    "vector.load": emit_vector_load,
    "vector.store": emit_vector_store,
    "vector.maskedload": emit_masked_load,
    "vector.maskedstore": emit_masked_store,
    "vector.gather": emit_gather,
    "vector.scatter": emit_scatter,
}
