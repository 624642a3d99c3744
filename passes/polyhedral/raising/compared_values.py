"""Selections of what has been compared: values that are written twice are computed once.

%0 = affine.load %x[%i]                       %0 = affine.load %x[%i]
%1 = affine.load %m[]                         %1 = affine.load %m[]
%c = arith.cmpf ogt, %0, %1                   %c = arith.cmpf ogt, %0, %1
%2 = affine.load %x[%i]               ->      %r = arith.select %c, %0, %1
%3 = affine.load %m[]
%r = arith.select %c, %2, %3

So `x[i] > m ? x[i] : m` is an extremum (`selected_extrema`), and a reduction.
"""

from __future__ import annotations

from xdsl.dialects import arith, func
from xdsl.dialects.affine import LoadOp, StoreOp
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free


def select_compared_values(function: func.FuncOp) -> None:
    """Makes selections use the operands of their comparisons of floats; in place."""
    for operation in list(function.walk()):
        if not isinstance(operation, arith.SelectOp) or not isinstance(
            operation.result.type, AnyFloat
        ):
            continue
        compared = operation.cond.owner
        if not isinstance(compared, arith.CmpfOp):
            continue
        for position in (1, 2):
            selected = operation.operands[position]
            same = next(
                (each for each in compared.operands if _same(each, selected, set())), selected
            )
            if same is not selected:
                operation.operands[position] = same
                _erase_unused(selected)


def _same(one: SSAValue, other: SSAValue, alike: set[tuple[SSAValue, SSAValue]]) -> bool:
    """Whether two values are computed alike, from what memory holds at both places.

    Those that are known to be are `alike`: operands may lead to the same values again and again.
    """
    if one is other or (one, other) in alike:
        return True
    first, second = one.owner, other.owner
    if (
        not isinstance(first, Operation)
        or not isinstance(second, Operation)
        or first.parent is not second.parent
        or first.name != second.name
        or first.properties != second.properties
        or first.attributes != second.attributes
        or first.regions
        or one.type != other.type
        or len(first.operands) != len(second.operands)
    ):
        return False
    is_load = isinstance(first, LoadOp)
    if not is_load and not is_side_effect_free(first):
        return False
    operands = zip(first.operands, second.operands, strict=True)
    if not all(_same(*pair, alike) for pair in operands):
        return False
    if is_load and not _nothing_stored(first, second):
        return False
    alike.add((one, other))
    return True


def _nothing_stored(first: Operation, second: Operation) -> bool:
    """Whether the second of two operations of a block comes later, and no store in between."""
    between = first.next_op
    while between is not None and between is not second:
        if any(isinstance(inner, StoreOp | func.CallOp) for inner in between.walk()):
            return False
        between = between.next_op
    return between is second


def _erase_unused(value: SSAValue) -> None:
    """Erases what only led to a value that nothing uses any more."""
    operation = value.owner
    if value.uses or not isinstance(operation, Operation) or len(operation.results) != 1:
        return
    if operation.parent is None:  # reached before, by way of another operand
        return
    operands = list(operation.operands)
    operation.detach()
    operation.erase()
    for operand in operands:
        if isinstance(operand.owner, Operation) and (
            isinstance(operand.owner, LoadOp) or is_side_effect_free(operand.owner)
        ):
            _erase_unused(operand)
