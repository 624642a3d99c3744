"""Operands that may be computed earlier: subscripts and constants, alike wherever they stand."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import affine

_MOVABLE = (affine.ApplyOp, arith.ConstantOp)


def form(value: SSAValue) -> Hashable:
    """The same for two values that are computed alike; else the value itself."""
    owner = value.owner
    if not isinstance(owner, _MOVABLE):
        return value
    return owner.name, *owner.properties.items(), value.type, *map(form, owner.operands)


def can_be_hoisted(values: Iterable[SSAValue], block: Block) -> bool:
    """Whether all values are there before a block, or can be computed there."""
    return all(
        owner is not block
        and (
            not isinstance(owner, Operation)
            or owner.parent is not block
            or (isinstance(owner, _MOVABLE) and can_be_hoisted(owner.operands, block))
        )
        for owner in (value.owner for value in values)
    )


def hoist(values: Iterable[SSAValue], before: Operation) -> None:
    """Moves what computes values to before an operation that they stand behind, or in."""
    around = before.parent
    assert around is not None
    for owner in (value.owner for value in values):
        if isinstance(owner, _MOVABLE) and _is_behind(owner, before):
            hoist(owner.operands, before)
            owner.detach()
            around.insert_op_before(owner, before)


def _is_behind(op: Operation, other: Operation) -> bool:
    """Whether an operation comes after another one in its block, or is inside of that."""
    if op.parent is not other.parent:
        return other.is_ancestor(op)
    following = other.next_op
    while following is not None and following is not op:
        following = following.next_op
    return following is op
