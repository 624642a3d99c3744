"""Selections in the case of NaN: what they choose then is computed behind a branch.

    %l = cmpf uno %x, %x                        %l = cmpf uno %x, %x
    ... operations that only %r and %c need     if any lane of %l:
    %c = andi %l, %other                 ->       ... these operations
    %y = select %c, %r, %x                        %y = select %c, %r, %x

As compilers do, NaN is taken to be rare: products of complex numbers recover infinities from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

_UNORDERED = 14
"""`uno` among the predicates of `arith.cmpf`."""
_FEWEST = 8
"""Operations that a branch pays for."""


@dataclass(frozen=True)
class RareSelections:
    """Selections under one condition, the tests for NaN that it implies, what only they need."""

    selections: tuple[arith.SelectOp, ...]
    tests: tuple[SSAValue, ...]
    needed: tuple[Operation, ...]


def rare_selections(block: Block) -> Mapping[Operation, RareSelections]:
    """The selections of a block that are made behind a branch, and what they need, by operation.

    Those that choose from each other are left where they are.
    """
    by_condition: dict[SSAValue, list[arith.SelectOp]] = {}
    for op in block.ops:
        if isinstance(op, arith.SelectOp):
            by_condition.setdefault(op.cond, []).append(op)
    found: dict[Operation, RareSelections] = {}
    if not by_condition:
        return found
    order = {op: number for number, op in enumerate(block.ops)}
    for condition, selections in by_condition.items():
        tests = [each for each in _conjuncts(condition) if _is_for_nan(each, block)]
        if not tests or not found.keys().isdisjoint(selections):
            continue
        needed = _needed_by(selections, tests, order)
        inside = {*needed, *selections}
        chosen = {each.result for each in selections}
        if any(operand in chosen for op in inside for operand in op.operands):
            continue
        first = min(order[each] for each in selections)
        is_ready = all(
            order.get(operand.owner, -1) < first
            for op in inside
            for operand in op.operands
            if isinstance(operand.owner, Operation) and operand.owner not in inside
        )
        work = sum(not isinstance(op, arith.ConstantOp) for op in needed)
        if work >= _FEWEST and is_ready and found.keys().isdisjoint(inside):
            group = RareSelections(tuple(selections), tuple(tests), tuple(needed))
            found |= dict.fromkeys(inside, group)
    return found


def _conjuncts(value: SSAValue) -> list[SSAValue]:
    """All that a condition implies: its conjunctions, and what they join."""
    if not isinstance(value.owner, arith.AndIOp):
        return [value]
    return [each for operand in value.owner.operands for each in _conjuncts(operand)]


def _is_for_nan(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return (
        isinstance(owner, arith.CmpfOp)
        and owner.parent is block
        and owner.predicate.value.data == _UNORDERED
    )


def _needed_by(
    selections: Sequence[arith.SelectOp],
    tests: Sequence[SSAValue],
    operations: Iterable[Operation],
) -> list[Operation]:
    """The arithmetic of the block that only the true values and the condition need, in order."""
    needed: set[Operation] = set()
    kept = {test.owner for test in tests}
    for op in reversed(tuple(operations)):
        uses = [use for result in op.results for use in result.uses]
        if (
            uses
            and op not in kept
            and op.name.startswith(("arith.", "math."))
            and all(
                use.operation in needed or (use.operation in selections and use.index < 2)
                for use in uses
            )
        ):
            needed.add(op)
    return [op for op in operations if op in needed]
