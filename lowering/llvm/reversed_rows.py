"""Vectors whose lanes are neighbours from last to first: rows that loops run through backwards.

scatter A[n - i - (0, 1, 2, 3)], x   ->   store A[n - i - 3 .. n - i], (x3, x2, x1, x0)
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from xdsl.ir import SSAValue

from ...dialects.arith import constant_lanes
from ...dialects.vector import GatherOp, ScatterOp
from ...passes.polyhedral.gathers import needs_check
from ..memory.known_lanes import stride_of, varying_mask
from . import integers
from .emitter import FunctionEmitter, constant, type_of
from .memory import element_pointer, from_storage, store, to_storage
from .strided_accesses import shuffled
from .types import I32, POINTER, VOID, scalar_type, size_in_bytes


def emit_reversed_store(emitter: FunctionEmitter, op: ScatterOp) -> bool:
    """Stores neighbours in their order; whether these are such lanes, and can be stored so."""
    pointer = _last_place(emitter, op)
    if pointer is None:
        return False
    value = to_storage(emitter, emitter.value(op.value_to_store))
    width = size_in_bytes(scalar_type(value.type))
    mask = varying_mask(op.mask)
    if mask is None:
        store(emitter, _reversed(emitter, value), pointer, width)
        return True
    if not emitter.module.target.has_masked_stores(width):
        return False
    active = _reversed(emitter, emitter.value(mask))
    emitter.call_intrinsic(
        "llvm.masked.store",
        [_reversed(emitter, value), pointer, ir.Constant(I32, width), active],
        VOID,
        [value.type, POINTER],
    )
    return True


def emit_reversed_load(emitter: FunctionEmitter, op: GatherOp) -> bool:
    """Loads neighbours under a mask; whether these are such lanes, and can be loaded so."""
    mask, kind = varying_mask(op.mask), type_of(op.result)
    default = to_storage(emitter, emitter.value(op.pass_thru))
    width = size_in_bytes(scalar_type(default.type))
    if mask is None or not emitter.module.target.has_masked_loads(width):
        return False
    pointer = _last_place(emitter, op)
    if pointer is None:
        return False
    loaded = emitter.call_intrinsic(
        "llvm.masked.load",
        [
            pointer,
            ir.Constant(I32, width),
            _reversed(emitter, emitter.value(mask)),
            _reversed(emitter, default),
        ],
        default.type,
        [default.type, POINTER],
    )
    emitter.values[op.result] = from_storage(emitter, _reversed(emitter, loaded), kind)
    return True


def _last_place(emitter: FunctionEmitter, op: GatherOp | ScatterOp) -> ir.Value | None:
    """The address of the last lane's element, the first in memory; None for other lanes."""
    known = constant_lanes(op.index_vec)
    subscripts: Sequence[SSAValue] = tuple(op.indices)
    is_checked = emitter.module.options.check_bounds or needs_check(op, subscripts)
    if known is None or stride_of(known) != -1 or is_checked:
        return None
    values = [*emitter.all_values(subscripts)]
    values[-1] = integers.add(emitter, values[-1], constant(known[-1]))
    return element_pointer(emitter, emitter.buffer(op.base), values, inbounds=False)


def _reversed(emitter: FunctionEmitter, value: ir.Value) -> ir.Value:
    assert isinstance(value.type, ir.VectorType)
    return shuffled(emitter, value, value, range(value.type.count - 1, -1, -1))
