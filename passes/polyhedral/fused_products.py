"""Which product an addition or subtraction is fused with: the same one in every schedule.

    %p = arith.mulf %a, %b
    %s = arith.addf %c, %p      ->      %s = fma(%a, %b, %c)

A fused operation rounds once, so a code generator that fuses here and there as it sees fit makes
results depend on the schedule. What is fused is therefore a property of the program: an operand
that is a product of the same block, the right one if both are. Schedules keep that: what they
make one block is marked where it was not, or where only the left operand was a product of the
block, and a value that was read from memory is none.
"""

from __future__ import annotations

from xdsl.dialects import arith, func
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import Float32Type, Float64Type, UnitAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from ...dialects.vector import is_vector

SEPARATE = "loopwright.separate"
"""The attribute of an addition that is not fused although an operand is a product now."""

LEFT = "loopwright.fuse_left"
"""That of one that is fused with the left operand although the right one is a product now, too."""

_MARKS = {None: SEPARATE, 0: LEFT}

_SUMS = (arith.AddfOp, arith.SubfOp)
_LICENCES = (FastMathFlag.ALLOW_CONTRACT, FastMathFlag.REASSOC)


def fused_operand(operation: Operation) -> int | None:
    """The position of the operand, a product, that an operation is fused with; None if with none.

    Where an operation has a licence of its own (`fastmath<contract>`), LLVM decides.
    """
    if not isinstance(operation, _SUMS) or SEPARATE in operation.attributes:
        return None
    if not _is_fusible(operation):
        return None
    for position in (0,) if LEFT in operation.attributes else (1, 0):
        if fused_product(operation, position) is not None:
            return position
    return None


def fused_product(operation: Operation, position: int) -> arith.MulfOp | None:
    """The product in the same block that an operand is, also in all lanes of a vector."""
    owner = operation.operands[position].owner
    if isinstance(owner, xdsl_vector.BroadcastOp):
        owner = owner.source.owner
    if not isinstance(owner, arith.MulfOp) or owner.parent is not operation.parent:
        return None
    return owner if _is_fusible(owner) else None


def keep_fused(operation: Operation, original: Operation) -> None:
    """Marks a copy of an addition where its operands are products that those of it are not."""
    position = fused_operand(original)
    if position in _MARKS and fused_operand(operation) != position:
        operation.attributes[_MARKS[position]] = UnitAttr()


def keep_separate(operation: Operation) -> None:
    """Marks an addition that takes the place of something that is none in the program."""
    if fused_operand(operation) is not None:
        operation.attributes[SEPARATE] = UnitAttr()


def mark_fused(function: func.FuncOp) -> None:
    """Marks what additions are fused with, before other values take the place of their operands."""
    for operation in function.walk():
        if isinstance(operation, _SUMS) and (position := fused_operand(operation)) in _MARKS:
            operation.attributes[_MARKS[position]] = UnitAttr()


def drop_needless_marks(function: func.FuncOp) -> None:
    """Drops the marks of additions that are fused in the same way without them."""
    for operation in function.walk():
        if not operation.attributes:
            continue
        marks = {mark: UnitAttr() for mark in _MARKS.values() if mark in operation.attributes}
        if marks:
            position = fused_operand(operation)
            for mark in marks:
                del operation.attributes[mark]
            if fused_operand(operation) != position:
                operation.attributes |= marks


def _is_fusible(operation: arith.AddfOp | arith.SubfOp | arith.MulfOp) -> bool:
    kind = operation.result.type
    element = kind.element_type if is_vector(kind) else kind
    return isinstance(element, Float32Type | Float64Type) and not any(
        flag in operation.fastmath.data for flag in _LICENCES
    )
