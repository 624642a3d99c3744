"""The normal form of a function, from which statements are extracted."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from ....dialects.errors import SourceError
from ....dialects.opaque import is_opaque
from ....dialects.supported_types import check_types, is_scalar
from ..fused_products import drop_needless_marks, mark_fused
from ..memrefs import as_memref
from .canonicalise import make_affine
from .compared_values import select_compared_values
from .conditional_updates import make_updates_unconditional
from .filled_diagonals import fill_diagonals
from .importing.import_function import import_function
from .importing.library_calls import order_external_calls
from .inlining import check_blocks, drop_casts, inline_calls, module_of
from .narrow_floats import widen_narrow_floats
from .scalar_demotion import (
    define_undefined,
    demote_carried_values,
    demote_results,
    use_constants,
)

_KNOWN = frozenset(
    f"affine.{name}" for name in ["apply", "for", "if", "load", "max", "min", "store", "yield"]
) | frozenset(f"memref.{name}" for name in ["alloc", "alloca", "dim"])

_ALLOCATIONS = ("memref.alloc", "memref.alloca")

_DROPPED = ("affine.prefetch", "memref.dealloc", "memref.prefetch")

_HINTS = {
    "memref.get_global": "pass the memref as an argument",
    "scf.parallel": "use affine.parallel",
    "scf.while": "use affine.for with affine bounds",
}


@dataclass(frozen=True)
class NormalForm:
    """A normalised function; `returns` are the rank-0 memrefs that hold its results at the end."""

    func: func.FuncOp
    returns: tuple[SSAValue, ...] = ()


def normalise(function: func.FuncOp) -> NormalForm:
    """A normalised copy of a function, which has only

    - affine.for without iter_args, affine.if without results, and their affine.yield;
    - affine.load and affine.store (subscripts may be results of arith operations);
    - memref.alloc, memref.alloca, memref.dim;
    - operations of arith and math on scalars;
    - calls of opaque regions, which are functions of the module that it is in then.

    Calls are inlined; values that loops carry and that branches give become rank-0 local memrefs,
    and so do the results of the function. Raises SourceError at whatever has no such form.
    """
    check_blocks(function)
    copy = function.clone()
    import_function(copy, module_of(function))
    inline_calls(copy, module_of(function))
    drop_casts(copy)
    order_external_calls(copy)
    check_blocks(copy)
    check_types(copy)
    widen_narrow_floats(copy)
    mark_fused(copy)  # branches on data are moved to the block of their condition
    define_undefined(copy)
    use_constants(copy)
    returns = demote_results(copy)
    make_affine(copy)
    demote_carried_values(copy)
    select_compared_values(copy)
    make_updates_unconditional(copy)
    for operation in list(copy.walk()):
        if operation.name in _DROPPED:
            operation.detach()
            operation.erase()
        elif operation is not copy:
            _check(operation)
    fill_diagonals(copy)
    drop_needless_marks(copy)
    return NormalForm(copy, returns)


def _check(operation: Operation) -> None:
    if isinstance(operation, func.ReturnOp) or is_opaque(operation):
        return
    known = operation.name in _KNOWN or (
        operation.name.startswith(("arith.", "math.")) and not operation.regions
    )
    if not known:
        raise SourceError.at(
            operation,
            f"'{operation.name}' cannot be raised to the polyhedral model",
            hint=_HINTS.get(operation.name),
        )
    for result in operation.results:
        if as_memref(result) is not None and operation.name not in _ALLOCATIONS:
            raise SourceError.at(
                operation,
                "a memref that may be one of several",
                hint="access one memref directly in each branch",
            )
        if as_memref(result) is None and not is_scalar(result.type):
            raise SourceError.at(
                operation, f"a value of type {result.type}", hint="write the scalar program"
            )
