"""Accesses at subscripts that are a minimum or maximum: one for each of its cases.

%m = arith.maxsi %i, %zero                %x = affine.if (i - 0 >= 0) { yield load %A[%i] }
%x = affine.load %A[%m]           ->           else { yield load %A[%zero] }
"""

from __future__ import annotations

from xdsl.dialects import arith, func
from xdsl.dialects.affine import IfOp
from xdsl.dialects.builtin import AffineSetAttr, IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineConstraintExpr, AffineConstraintKind, AffineExpr, AffineSet

from ....dialects.affine import LoadOp, StoreOp, YieldOp
from .cells import as_index, insert_before

_EXTREMA = (arith.MinSIOp, arith.MaxSIOp)
_CASTS = (arith.IndexCastOp, arith.ExtSIOp)

MOST_CASES = 16
"""Of the subscripts of one access."""


def split_clamped_subscripts(function: func.FuncOp) -> None:
    """Gives accesses at clamped positions a branch for each case, in place."""
    for operation in list(function.walk()):
        if isinstance(operation, LoadOp | StoreOp):
            _split(operation, MOST_CASES)


def _split(access: LoadOp | StoreOp, most: int) -> None:
    found = next(
        (
            (position, extremum)
            for position, index in enumerate(access.operands)
            # The first operand is the memref, or what is stored.
            if position > 0
            and isinstance(index.type, IndexType)
            and (extremum := _extremum(index)) is not None
        ),
        None,
    )
    if found is None or most < 2:
        return
    position, extremum = found
    left, right = (as_index(side, access) for side in extremum.operands)
    difference = AffineExpr.symbol(1) - AffineExpr.symbol(0)
    if isinstance(extremum, arith.MaxSIOp):
        difference = -difference
    is_first = AffineConstraintExpr(AffineConstraintKind.ge, difference, AffineExpr.constant(0))
    cases: list[LoadOp | StoreOp] = []
    regions: list[Region] = []
    for side in (left, right):
        case = access.clone()
        case.operands[position] = side
        case.location = access.location
        end = YieldOp.get(*case.results)
        end.location = access.location
        regions.append(Region(Block([case, end])))
        cases.append(case)
    branch = IfOp.create(
        operands=[left, right],
        result_types=access.result_types,
        properties={"condition": AffineSetAttr(AffineSet(0, 2, (is_first,)))},
        regions=regions,
    )
    insert_before(access, branch)
    for old, new in zip(access.results, branch.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    access.detach()
    access.erase()
    for case in cases:
        _split(case, most // 2)


def _extremum(index: SSAValue) -> arith.MinSIOp | arith.MaxSIOp | None:
    """The minimum or maximum that an index is."""
    owner = index.owner
    while isinstance(owner, _CASTS):
        owner = owner.operands[0].owner
    return owner if isinstance(owner, _EXTREMA) else None
