"""Statements: each store with the loads and arithmetic that it needs."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import affine, func
from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument, Operation, SSAValue

from .affine_values import AffineValues, NotAffineError
from .nests import Nests, analyse


@dataclass(frozen=True, eq=False)
class Slice:
    """The operations of one statement in program order; `indices` are affine operands of them."""

    stores: tuple[affine.StoreOp, ...]
    body: tuple[Operation, ...]
    indices: tuple[SSAValue, ...]


def slices(function: func.FuncOp) -> tuple[Nests, list[Slice]]:
    """The statements of a normalised function in textual order."""
    nests = analyse(function)
    return nests, [_slice(nests, (place.op,)) for place in nests.stores]


def _slice(nests: Nests, stores: tuple[affine.StoreOp, ...]) -> Slice:
    body: dict[Operation, None] = dict.fromkeys(stores)
    indices: dict[SSAValue, None] = {}
    pending = [store.value for store in stores]
    while pending:
        value = pending.pop()
        if is_affine_index(nests.values, value):
            indices[value] = None
        elif not isinstance(value, BlockArgument):
            op = value.owner
            assert isinstance(op, Operation)
            if op not in body:
                body[op] = None
                pending.extend(() if isinstance(op, affine.LoadOp) else op.operands)
    ordered = sorted(body, key=nests.orders.__getitem__)
    return Slice(stores, tuple(ordered), tuple(indices))


def is_affine_index(values: AffineValues, value: SSAValue) -> bool:
    """Whether a value of type index is affine, so that no statement needs to compute it."""
    if not isinstance(value.type, IndexType):
        return False
    try:
        values.expression(value)
    except NotAffineError:
        return False
    return True
