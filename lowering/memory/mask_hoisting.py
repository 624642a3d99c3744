"""Loop-invariant code motion of vector masks, and one mask for all equal ones.

Only accesses under one and the same mask are seen to be of one place (scalar replacement).

    for k:                                  %m = create_mask %rest
      %m = create_mask %rest                for k:
      %0 = maskedload C[i, j], %m     ->      %0 = maskedload C[i, j], %m
      %n = create_mask %rest                  ...
      maskedstore C[i, j], %n, %1             maskedstore C[i, j], %m, %1
"""

from __future__ import annotations

from xdsl.dialects import arith, func, vector
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import affine
from ..loops.alias_analysis import is_inside
from ..loops.operations import operations

_PURE = (
    vector.CreateMaskOp,
    affine.ApplyOp,
    affine.MinOp,
    affine.MaxOp,
    arith.AndIOp,
    arith.XOrIOp,
    arith.ConstantOp,
)

_Expression = tuple[
    type[Operation], tuple[SSAValue, ...], tuple[tuple[str, Attribute], ...], Attribute
]
"""Of an operation: its class, operands, properties and type (a mask has as many lanes)."""


def hoist_masks(function: func.FuncOp) -> None:
    """Moves masks, and what they are computed from, out of all blocks that do not change them."""
    found = operations(function)
    needed = _needed(found)
    if not needed:
        return
    # Inner blocks come behind the blocks around them.
    blocks = [block for op in found for region in op.regions for block in region.blocks]
    for block in reversed(blocks):
        _merge(block, needed)
        around = block.parent_op()
        if around is None or around is function:
            continue
        for op in list(block.ops):
            if op in needed and not any(is_inside(operand, block) for operand in op.operands):
                op.detach()
                assert around.parent is not None
                around.parent.insert_op_before(op, around)


def _needed(found: list[Operation]) -> set[Operation]:
    """The masks, and the pure operations that only they lead to."""
    waiting: list[Operation] = [op for op in found if isinstance(op, vector.CreateMaskOp)]
    needed = set(waiting)
    waiting += [op for op in found if isinstance(op, arith.AndIOp | arith.XOrIOp)]
    needed |= {op for op in waiting if _is_of_masks(op, needed)}
    while waiting:
        for operand in waiting.pop().operands:
            owner = operand.owner
            if isinstance(owner, _PURE) and owner not in needed:
                needed.add(owner)
                waiting.append(owner)
    return needed


def _is_of_masks(op: Operation, masks: set[Operation]) -> bool:
    return op in masks or any(
        isinstance(operand.owner, Operation) and operand.owner in masks for operand in op.operands
    )


def _merge(block: Block, needed: set[Operation]) -> None:
    """One operation for all equal ones of a block."""
    first: dict[_Expression, Operation] = {}
    for op in list(block.ops):
        if op not in needed:
            continue
        (result,) = op.results
        key = type(op), tuple(op.operands), tuple(op.properties.items()), result.type
        other = first.setdefault(key, op)
        if other is not op:
            op.results[0].replace_all_uses_with(other.results[0])
            needed.remove(op)
            op.detach()
            op.erase()
