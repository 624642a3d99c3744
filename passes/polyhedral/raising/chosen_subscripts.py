"""Accesses at subscripts that conditions choose: a copy of what they belong to for each case.

%c = arith.cmpi sgt, %i, %zero            affine.if (i - 1 >= 0) {
%m = arith.select %c, %before, %zero        store f(load %A[%before]), %B[%i]
%x = affine.load %A[%m]             ->    } else {
store f(%x), %B[%i]                         store f(load %A[%zero]), %B[%i]
                                          }

So are minima and maxima (clamped borders), and remainders of a division by a size that is done at
most once (periodic boundaries).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.affine import IfOp
from xdsl.dialects.builtin import AffineSetAttr, IndexType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir import Region as Body
from xdsl.ir.affine import AffineConstraintExpr, AffineExpr, AffineSet

from ....dialects.affine import LoadOp, StoreOp, YieldOp
from .affine_values import AffineValues
from .cells import as_index, insert_before
from .subscript_cases import (
    Decision,
    Outcomes,
    Region,
    SubscriptCases,
    UndecidedError,
    has_cases,
)

MOST_COPIES = 64
"""Of the operations that belong together."""

MOST_CASES = 16
"""Of an access by itself."""

_Access = LoadOp | StoreOp

_COPIED = ("arith.", "math.", "affine.apply", "memref.dim")


def split_chosen_subscripts(function: func.FuncOp) -> None:
    """Gives accesses at chosen positions, and what they belong to, copies for each case, in place.

    All operations from the first such access to the end of a straight line are copied where that
    is not too much; else each access is, by itself.
    """
    values = AffineValues(function)
    for run in list(_runs(function)):
        chosen = [op for op in run if isinstance(op, _Access) and _chosen(op)]
        if not chosen:
            continue
        together = run[run.index(chosen[0]) :]
        if not _is_closed(together) or not _split(together, values, MOST_COPIES):
            for access in chosen:
                _split([access], values, MOST_CASES)
    _drop_needless(function)


def _drop_needless(function: func.FuncOp) -> None:
    """Removes arithmetic, and branches with nothing else, that nothing uses."""
    for op in reversed(list(function.walk())):
        inside = [inner for region in op.regions for inner in region.walk()]
        is_pure = all(each.name.startswith(_PURE) for each in (inside or [op]))
        is_used = any(True for each in op.results for _ in each.uses)
        if op.results and is_pure and not is_used and (not inside or isinstance(op, IfOp)):
            op.detach()
            op.erase()


_PURE = ("arith.", "affine.apply", "affine.yield")


def _runs(function: func.FuncOp) -> Iterator[list[Operation]]:
    """Accesses and arithmetic one after the other."""
    blocks = [block for op in function.walk() for region in op.regions for block in region.blocks]
    for block in blocks:
        run: list[Operation] = []
        for op in block.ops:
            if isinstance(op, _Access) or op.name.startswith(_COPIED):
                run.append(op)
            else:
                yield run
                run = []


def _chosen(access: _Access) -> list[int]:
    """The operands of an access that are subscripts with cases."""
    return [
        position
        for position, index in enumerate(access.operands)
        # The first operand is the memref, or what is stored.
        if position > 0 and isinstance(index.type, IndexType) and has_cases(index)
    ]


def _is_closed(operations: Sequence[Operation]) -> bool:
    """Whether nothing else uses what operations compute."""
    inside = set(operations)
    return all(
        use.operation in inside for op in operations for each in op.results for use in each.uses
    )


@dataclass(frozen=True)
class _Case:
    """What holds in a case."""

    known: Outcomes


@dataclass(frozen=True)
class _Branch:
    """Cases where a condition holds, and where it does not."""

    decision: Decision
    parts: tuple[_Case | _Branch, _Case | _Branch]


def _split(operations: Sequence[Operation], values: AffineValues, most: int) -> bool:
    """Copies operations for each case of their subscripts; whether it has, else nothing changes."""
    anchor = operations[0]
    block = anchor.parent
    assert block is not None
    cases = SubscriptCases(anchor)
    subscripts = [
        op.operands[k] for op in operations if isinstance(op, _Access) for k in _chosen(op)
    ]
    try:
        planned = _plan(cases, subscripts, {}, Region.around(values, block))
    except UndecidedError:
        planned = None
    if planned is None or _count(planned) > most:
        cases.drop_unused()
        return False
    results = [
        each
        for op in operations
        for each in op.results
        if any(use.operation not in operations for use in each.uses)
    ]
    new = _emit(cases, operations, results, planned)
    insert_before(anchor, *new[0])
    for old, value in zip(results, new[1], strict=True):
        value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    for op in reversed(operations):
        op.detach()
        op.erase()
    cases.drop_unused()
    return True


def _plan(
    cases: SubscriptCases, subscripts: Sequence[SSAValue], known: Outcomes, region: Region
) -> _Case | _Branch:
    """The cases that there are; raises UndecidedError."""
    for value in subscripts:
        decision = cases.pending(value, known, region)
        if decision is None:
            continue
        parts: list[_Case | _Branch] = []
        for outcome, holds in zip(decision.outcomes, (True, False), strict=True):
            part = region.where(decision.condition, holds=holds)
            if not part.is_empty():
                own = {**known, decision.key: outcome}
                parts.append(_plan(cases, subscripts, own, part))
        if not parts:
            raise UndecidedError("there are no iterations")
        return parts[0] if len(parts) == 1 else _Branch(decision, (parts[0], parts[1]))
    return _Case(known)


def _count(planned: _Case | _Branch) -> int:
    if isinstance(planned, _Case):
        return 1
    return sum(map(_count, planned.parts))


def _emit(
    cases: SubscriptCases,
    operations: Sequence[Operation],
    results: Sequence[SSAValue],
    planned: _Case | _Branch,
) -> tuple[list[Operation], Sequence[SSAValue]]:
    """The operations for some cases, and what they give for results."""
    if isinstance(planned, _Case):
        copies: dict[SSAValue, SSAValue] = {}
        made: list[Operation] = []
        for op in operations:
            copy = op.clone(copies)
            copy.location = op.location
            if isinstance(op, _Access):
                for position in _chosen(op):
                    value = cases.resolved(op.operands[position], planned.known)
                    copy.operands[position] = as_index(value, cases.anchor)
            made.append(copy)
        return made, [copies[each] for each in results]
    bodies: list[Body] = []
    for part in planned.parts:
        inside, given = _emit(cases, operations, results, part)
        end = YieldOp.get(*given)
        end.location = cases.anchor.location
        bodies.append(Body(Block([*inside, end])))
    operands, form, kind = planned.decision.condition
    condition = AffineConstraintExpr(kind, form, AffineExpr.constant(0))
    branch = IfOp.create(
        operands=[as_index(each, cases.anchor) for each in operands],
        result_types=[each.type for each in results],
        properties={"condition": AffineSetAttr(AffineSet(0, len(operands), (condition,)))},
        regions=bodies,
    )
    branch.location = cases.anchor.location
    return [branch], branch.results
