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

from collections.abc import Iterator, Mapping, Sequence
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
    is_changed = False
    for run in list(_runs(function)):
        chosen = {op: found for op in run if isinstance(op, _Access) and (found := _chosen(op))}
        if not chosen:
            continue
        is_changed = True
        first = next(iter(chosen))
        together = run[run.index(first) :]
        if _results(together) or not _split(together, chosen, values, MOST_COPIES):
            for access in chosen:
                _split([access], chosen, values, MOST_CASES)
    if is_changed:
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


_PURE = ("arith.", "affine.apply", "affine.yield", "memref.dim")


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


def _results(operations: Sequence[Operation]) -> list[SSAValue]:
    """What operations compute and others use."""
    inside = set(operations)
    return [
        each
        for op in operations
        for each in op.results
        if any(use.operation not in inside for use in each.uses)
    ]


_Chosen = Mapping[_Access, Sequence[int]]
"""Accesses, and which of their operands are subscripts with cases."""


@dataclass(frozen=True)
class _Case:
    """What holds in a case."""

    known: Outcomes


@dataclass(frozen=True)
class _Branch:
    """Cases where a condition holds, and where it does not."""

    decision: Decision
    parts: tuple[_Case | _Branch, _Case | _Branch]


def _split(
    operations: Sequence[Operation], chosen: _Chosen, values: AffineValues, most: int
) -> bool:
    """Copies operations for each case of their subscripts; whether it has, else nothing changes.

    Arithmetic that nothing uses may be left in front of them.
    """
    anchor = operations[0]
    block = anchor.parent
    assert block is not None
    cases = SubscriptCases(anchor)
    inside = set(operations)
    subscripts = [op.operands[k] for op, found in chosen.items() if op in inside for k in found]
    try:
        planned, _ = _plan(cases, subscripts, {}, Region.around(values, block), most)
    except UndecidedError:
        return False
    results = _results(operations)
    new, given = _emit(cases, operations, chosen, results, planned)
    insert_before(anchor, *new)
    for old, value in zip(results, given, strict=True):
        value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    for op in reversed(operations):
        op.detach()
        op.erase()
    return True


def _plan(
    cases: SubscriptCases,
    subscripts: Sequence[SSAValue],
    known: Outcomes,
    region: Region,
    most: int,
) -> tuple[_Case | _Branch, int]:
    """The cases that there are, and how many; raises UndecidedError, also beyond `most`."""
    if most < 1:
        raise UndecidedError("there are too many cases")
    for value in subscripts:
        decision = cases.pending(value, known, region)
        if decision is None:
            continue
        parts: list[_Case | _Branch] = []
        count = 0
        for outcome, holds in zip(decision.outcomes, (True, False), strict=True):
            part = region.where(decision.condition, holds=holds)
            if not part.is_empty():
                own = {**known, decision.key: outcome}
                planned, number = _plan(cases, subscripts, own, part, most - count)
                parts.append(planned)
                count += number
        if not parts:
            raise UndecidedError("there are no iterations")
        whole = parts[0] if len(parts) == 1 else _Branch(decision, (parts[0], parts[1]))
        return whole, count
    return _Case(known), 1


def _emit(
    cases: SubscriptCases,
    operations: Sequence[Operation],
    chosen: _Chosen,
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
                for position in chosen.get(op, ()):
                    value = cases.resolved(op.operands[position], planned.known)
                    copy.operands[position] = as_index(value, cases.anchor)
            made.append(copy)
        return made, [copies[each] for each in results]
    bodies: list[Body] = []
    for part in planned.parts:
        inside, given = _emit(cases, operations, chosen, results, part)
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
