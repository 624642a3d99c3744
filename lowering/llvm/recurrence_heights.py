"""Height reduction of recurrences: what the last iteration has computed is added last.

x = (((x + a) + b) + c) * d    ->    x = (x + ((a + b) + c)) * d

Of the additions, all but one are ready before the last iteration is (Schlansker and Kathail,
"Acceleration of first and higher order recurrences on processors with instruction level
parallelism", LCPC 1993). LLVM sorts sums by a rank of its own.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from xdsl.dialects import affine, arith, scf
from xdsl.ir import Block, Operation, SSAValue

MOST_TERMS = 32
Sum = arith.AddfOp | arith.SubfOp


@dataclass(frozen=True)
class CarriedSum:
    """A sum of a `carried` term and others, each with whether it is subtracted."""

    carried: SSAValue
    others: Sequence[tuple[SSAValue, bool]]


def carried_sum(op: Sum) -> CarriedSum | None:
    """The terms of a sum, one of which waits for the last iteration; None if its order is good.

    None for sums that nothing else reads as well: those are split into lanes.
    """
    block = op.parent
    if block is None or _is_inner(op) or _is_read_behind_only(op):
        return None
    sources = _sources(op, block)
    if not sources:
        return None
    terms: list[tuple[SSAValue, bool]] = []
    _collect(op, False, sources, terms)
    waiting = [(term, minus) for term, minus in terms if _depends(term, sources, block)]
    if len(waiting) != 1 or waiting[0][1] or len(terms) < 3 or waiting[0][0] in op.operands:
        return None
    others = [(term, minus) for term, minus in terms if term is not waiting[0][0]]
    if all(minus for _, minus in others):
        return None
    return CarriedSum(waiting[0][0], sorted(others, key=lambda each: each[1]))


def _is_inner(op: Sum) -> bool:
    """Whether a sum is a term of another one alone."""
    user = op.result.get_user_of_unique_use()
    return isinstance(user, Sum) and user.parent is op.parent


def _is_read_behind_only(op: Sum) -> bool:
    return all(use.operation.name.endswith(".yield") for use in op.result.uses)


def _sources(op: Sum, block: Block) -> Set[SSAValue]:
    """What the loop around carries that is computed from a sum."""
    loop, end = block.parent_op(), block.last_op
    if not isinstance(loop, affine.ForOp | scf.ForOp) or end is None:
        return frozenset()
    carried = zip(block.args[1:], end.operands, strict=True)
    return {each for each, last in carried if _depends(last, {op.result}, block)}


def _collect(
    op: Sum, minus: bool, sources: Set[SSAValue], terms: list[tuple[SSAValue, bool]]
) -> None:
    """The terms of a sum, through sums that nothing else uses, or that wait for the sources."""
    block = op.parent
    assert block is not None
    for position, operand in enumerate(op.operands):
        negated = minus != (position == 1 and isinstance(op, arith.SubfOp))
        inner = operand.owner
        if (
            isinstance(inner, Sum)
            and inner.parent is block
            and len(terms) < MOST_TERMS
            and (operand.uses.get_length() == 1 or _depends(operand, sources, block))
        ):
            _collect(inner, negated, sources, terms)
        else:
            terms.append((operand, negated))


def _depends(value: SSAValue, sources: Set[SSAValue], block: Block) -> bool:
    """Whether a value is one of others, or is computed from one in the same block."""
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if each in sources:
            return True
        owner = each.owner
        if each not in seen and isinstance(owner, Operation) and owner.parent is block:
            pending += owner.operands
        seen.add(each)
    return False
