"""If-conversion of updates that leave out a diagonal, where they may run on it as well.

    affine.if (i - j == 0) {                 %0 = affine.apply (i - j)
    } else {                                 %1 = arith.cmpi eq, %0, 0
      %v = affine.load %x[%j]                affine.if (n - 2 >= 0) {
      %s = affine.load %S[%i]          ->      %v = affine.load %x[%j]
      %t = arith.addf %s, %v                   %s = affine.load %S[%i]
      affine.store %t, %S[%i]                  %t = arith.addf %s, %v
    }                                          %u = arith.select %1, %s, %t
                                               affine.store %u, %S[%i]

All iterations then run the same statements. On the diagonal they access only what the program
accesses elsewhere, for all sizes for which the new condition holds; for others nothing runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl
from xdsl.dialects import arith, func, memref
from xdsl.dialects.affine import ForOp, IfOp, YieldOp
from xdsl.dialects.builtin import AffineSetAttr, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstraintExpr, AffineConstraintKind, AffineExpr, AffineSet

from ....dialects.affine import LoadOp, StoreOp
from ..aff_expression import aff_expression
from ..isl_context import TooComplexError, bounded, coalesced
from ..memrefs import memref_shape
from ..scop import Parameter
from .access_contexts import Nests, Place, analyse
from .cells import as_index, insert_before
from .conditional_updates import make_updates_unconditional
from .diagonal_conditions import Diagonal, diagonal_of, is_on_diagonal, only_computes
from .importing.emission import move_before

_HARMLESS = (ForOp, IfOp, LoadOp, memref.AllocaOp)

_MOST_OPERATIONS = 1_000_000


def fill_diagonals(function: func.FuncOp) -> None:
    """Converts such conditions of a normalised function, inner ones first; in place."""
    is_filled = False
    for condition in reversed([op for op in function.walk() if isinstance(op, IfOp)]):
        diagonal = diagonal_of(condition)
        if diagonal is None or not _leaves_out(condition):
            continue
        hole = _Hole(function, analyse(function), condition, diagonal)
        if not hole.may_be_filled():
            continue
        try:
            with bounded(_MOST_OPERATIONS):
                sizes = hole.sizes()
        except (TooComplexError, isl.Error):
            continue
        if sizes is not None:
            hole.fill(sizes)
            is_filled = True
    if is_filled:
        make_updates_unconditional(function)


def _leaves_out(condition: IfOp) -> bool:
    """Whether nothing runs where the condition holds."""
    ends = all(isinstance(op, YieldOp) for op in condition.then_region.block.ops)
    return ends and bool(condition.else_region.blocks) and not condition.results


@dataclass(frozen=True)
class _Hole:
    """The diagonal on which a condition holds, and nothing runs."""

    function: func.FuncOp
    nests: Nests
    condition: IfOp
    diagonal: Diagonal

    @property
    def branch(self) -> Block:
        """What runs elsewhere."""
        return self.condition.else_region.block

    def may_be_filled(self) -> bool:
        """Whether the branch computes, and stores to what stays in one of the loops."""
        loops = self.nests.around[self.branch].loops
        depths = {loops.index(loop) for loop in self.diagonal.loops}
        for op in self.branch.walk():
            if isinstance(op, StoreOp):
                subscripts = self.nests.places[op].subscripts
                if depths <= {dim for each in subscripts for dim in each.used_dims()}:
                    return False
            elif not (isinstance(op, _HARMLESS) or only_computes(op)):
                return False
        return True

    def sizes(self) -> isl.BasicSet | None:
        """Sizes for which the branch may run everywhere, while for others it runs nowhere.

        None: they form no convex set.
        """
        around = self.nests.around[self.branch]
        running = self._relation(around.names, (), around.constraints).domain().params()
        refused = isl.Set.empty(running.get_space())
        for place in self.nests.places.values():
            if self.condition.is_ancestor(place.op) and memref_shape(place.memref):
                beyond = self._elements(place, on_diagonal=True).subtract(self._elsewhere(place))
                refused = refused.union(beyond.params())
        if refused.is_empty():
            return isl.BasicSet.universe(running.get_space())
        sizes = coalesced(running).convex_hull()
        return sizes if sizes.to_set().is_disjoint(refused) else None

    def _is_own(self, array: SSAValue) -> bool:
        """Whether the branch allocates it."""
        return isinstance(array.owner, Operation) and self.condition.is_ancestor(array.owner)

    def _elsewhere(self, place: Place) -> isl.Set:
        """The elements that the program accesses; of what is written, those that it writes."""
        kind = StoreOp if isinstance(place.op, StoreOp) else LoadOp | StoreOp
        others = (
            self._elements(other)
            for other in self.nests.places.values()
            if other.memref is place.memref and isinstance(other.op, kind)
        )
        return reduce(isl.Set.union, others)

    def _elements(self, place: Place, *, on_diagonal: bool = False) -> isl.Set:
        """What a load or store accesses, or would access on the diagonal."""
        around = place.surroundings
        constraints = list(around.constraints)
        if on_diagonal:
            assert self.condition.parent is not None
            position = len(self.nests.around[self.condition.parent].constraints)
            constraints[position] = f"not ({constraints[position]})"
        subscripts = [self.nests.values.text(each, around.names) for each in place.subscripts]
        return self._relation(around.names, subscripts, constraints).range()

    def _relation(
        self, names: Sequence[str], results: Sequence[str], constraints: Sequence[str]
    ) -> isl.Map:
        parameters = ", ".join(each.name for each in self.nests.values.parameters)
        return isl.Map(
            f"[{parameters}] -> {{ [{', '.join(names)}] -> [{', '.join(results)}] : "
            f"{' and '.join(constraints)} }}"
        )

    def fill(self, sizes: isl.BasicSet) -> None:
        """Has the branch run for these sizes, without effect on the diagonal."""
        truth = is_on_diagonal(self.diagonal, self.condition)
        for op in list(self.branch.walk()):
            if isinstance(op, StoreOp) and not self._is_own(op.memref):
                old = LoadOp(op.memref, list(op.indices), op.map)
                kept = arith.SelectOp(truth, old.result, op.value)
                insert_before(op, old, kept)
                op.operands[0] = kept.result
        if sizes.is_universe():
            move_before(self.condition, self.branch, self.branch.last_op)
        else:
            symbols = self.nests.values.parameters
            constraints = tuple(self._constraint(each) for each in sizes.get_constraints())
            holds = IfOp.create(
                operands=[self._size(each) for each in symbols],
                properties={"condition": AffineSetAttr(AffineSet(0, len(symbols), constraints))},
                regions=[self.condition.detach_region(1), Region()],
            )
            insert_before(self.condition, holds)
        self.condition.detach()
        self.condition.erase()

    def _constraint(self, constraint: isl.Constraint) -> AffineConstraintExpr:
        names = {each.name: position for position, each in enumerate(self.nests.values.parameters)}
        return AffineConstraintExpr(
            AffineConstraintKind.eq if constraint.is_equality() else AffineConstraintKind.ge,
            aff_expression(constraint.get_aff(), names),
            AffineExpr.constant(0),
        )

    def _size(self, parameter: Parameter) -> SSAValue:
        """The value of a parameter, before the condition."""
        argument = self.function.body.block.args[parameter.argument]
        if parameter.dimension is None:
            return as_index(argument, self.condition)
        position = arith.ConstantOp(IntegerAttr(parameter.dimension, IndexType()))
        size = memref.DimOp(argument, position.result)
        insert_before(self.condition, position, size)
        return size.result
