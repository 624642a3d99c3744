"""Accesses of opaque statements: over-approximated, subscript by subscript.

Where a subscript is affine in the loops around the call it is known; all others may have any value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.affine import LoadOp, StoreOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.external import touched_memrefs
from ....dialects.opaque import callee_of
from ..memrefs import memref_shape
from ..scop import AccessKind
from .affine_values import AffineValues, NotAffineError


@dataclass(frozen=True)
class OpaqueAccess:
    """What a call may read or write; a subscript of None may have any value."""

    kind: AccessKind
    memref: SSAValue
    subscripts: tuple[AffineExpr | None, ...]


def opaque_accesses(values: AffineValues, call: func.CallOp) -> tuple[OpaqueAccess, ...]:
    """The accesses of a call, each once, in textual order."""
    callee = callee_of(call)
    operands = dict(zip(callee.body.block.args, call.arguments, strict=True))
    for argument, operand in operands.items():
        if isinstance(operand.type, IndexType):
            try:
                values.define(argument, values.expression(operand))
            except NotAffineError:
                continue
    return tuple(dict.fromkeys(_accesses(values, callee, operands)))


def _accesses(
    values: AffineValues, callee: func.FuncOp, operands: dict[BlockArgument, SSAValue]
) -> Iterator[OpaqueAccess]:
    for operation in callee.walk():
        for array in touched_memrefs(operation):
            if isinstance(array, BlockArgument) and array in operands:
                anywhere = (None,) * len(memref_shape(array))
                for kind in (AccessKind.READ, AccessKind.WRITE):
                    yield OpaqueAccess(kind, operands[array], anywhere)
        if isinstance(operation, LoadOp | StoreOp):
            array = operation.memref
            if not isinstance(array, BlockArgument) or array not in operands:
                continue  # allocated in the function itself
            kind = AccessKind.WRITE if isinstance(operation, StoreOp) else AccessKind.READ
            subscripts: list[AffineExpr | None] = []
            for number in range(len(operation.map.data.results)):
                try:
                    subscripts.append(_subscript(values, operation, number))
                except NotAffineError:
                    subscripts.append(None)
            yield OpaqueAccess(kind, operands[array], tuple(subscripts))


def _subscript(values: AffineValues, operation: LoadOp | StoreOp, number: int) -> AffineExpr:
    whole = operation.map.data
    used = whole.results[number]
    return values.subscript(used, whole.num_dims, list(operation.indices))
