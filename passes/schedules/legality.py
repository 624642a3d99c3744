"""Legality of schedule trees: exact, with verdicts cached per Scop.

A tree is legal when no active dependence (`active_pairs.py`) runs backwards along any loop, or from
a later to an earlier child of any sequence, or between instances that a mark lets run together.

The steps of a reduction whose operation is exact in any order may change places, but no two of them
may run together: each reads and writes the element.

A tile loop whose size is known when it runs has to be legal for every size. Two instances are in
different tiles of some size if their values differ at all, and in one tile of another: the loop
must not run backwards, nor be parallel, by its function, and fixes nothing for what is inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import islpy as isl

from ..polyhedral.array_dataflow import union
from ..polyhedral.dependences import Dependence, DependenceKind, Dependences
from ..polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, statements, sum_of_affs
from ..polyhedral.scop import AccessKind
from .active_pairs import (
    MEMORY,
    ActivePairs,
    Function,
    Groups,
    Outer,
    backward_pairs,
    pairs_between,
)
from .violation import Reason, Violation


class Legality:
    """Legality queries about one Scop, given its dependences."""

    def __init__(self, dependences: Dependences) -> None:
        self.dependences = dependences
        self._functions: dict[tuple[tuple[str, str], ...], Function] = {}
        self._by_mapping: dict[int, tuple[Mapping[str, isl.Aff], Function]] = {}
        self._legal: dict[tuple[int, Outer], Loop] = {}
        self._strict = ActivePairs(dependences.relation)
        constraints = dependences.constraints
        self._steps = constraints.steps
        self._ordered, self._conflicts = constraints.ordered, constraints.ordered
        self._order = self._overlap = self._strict
        if self._steps:
            self._conflicts = (*self._ordered, *self._steps)
            self._order = _pairs_of(dependences, self._ordered)
            self._overlap = _pairs_of(dependences, self._conflicts)
        if constraints.is_complete:
            self._trust(dependences.scop.tree, frozenset())

    def _trust(self, tree: Tree, outer: Outer) -> None:
        """Remembers that `tree`, from which the dependences come, runs none of them backwards."""
        match tree:
            case Loop():
                self._order.trust_forward(outer, self.function(tree))
                self._trust(tree.body, self.inside(outer, tree))
            case Sequence(children):
                groups = tuple(statements(child) for child in children)
                self._order.trust_in_order(outer, groups)
                for child in children:
                    self._trust(child, outer)
            case Leaf(name):
                self._overlap.trust_in_order(outer, ((name,), (name,)))

    def function(self, loop: Loop) -> Function:
        """What the loop iterates over."""
        cached = self._by_mapping.get(id(loop.schedule))
        if cached is None:
            if len(self._by_mapping) > MEMORY:
                self._by_mapping.clear()
            # The mapping is kept as well, so that its id stays its own.
            cached = loop.schedule, self._function(loop.schedule)
            self._by_mapping[id(loop.schedule)] = cached
        return cached[1]

    def _function(self, schedule: Mapping[str, isl.Aff]) -> Function:
        key = tuple((name, str(aff)) for name, aff in schedule.items())
        function = self._functions.get(key)
        if function is None:
            inner = {name: _argument_of_floor(aff) for name, aff in schedule.items()}
            whole = {name: aff for name, aff in inner.items() if aff is not None}
            argument = self._function(whole) if len(whole) == len(inner) else None
            multi = sum_of_affs(tuple(schedule.values()))
            function = Function(key, multi, argument, len(self._functions))
            self._functions[key] = function
        return function

    def inside(self, outer: Outer, loop: Loop) -> Outer:
        """The functions whose values are fixed in an iteration of `loop`."""
        if loop.run_time_size is not None:
            return outer
        fixed = outer | {self.function(loop)}
        return frozenset(f for f in fixed if f.argument not in fixed)

    def active(self, outer: Outer) -> isl.UnionMap:
        """Dependences whose source and target agree on `outer`, those of reductions included."""
        return self._strict.active(outer)

    def is_forward(self, outer: Outer, loop: Loop) -> bool:
        """Whether no active dependence has a target in an earlier iteration of the loop."""
        return self._order.is_forward(outer, self.function(loop))

    def is_coincident(self, outer: Outer, loop: Loop) -> bool:
        """Whether active dependences stay inside iterations of the loop, those of steps as well."""
        return self._overlap.is_coincident(outer, self.function(loop))

    def is_lockstep(self, outer: Outer, loop: Loop) -> bool:
        """Whether iterations of the loop can run operation by operation, all at the same time."""
        if self.is_coincident(outer, loop):
            return True
        return loop.vector is not None or self._check_loop(replace(loop, vector=2), outer) is None

    def first_violation(self, tree: Tree, outer: Outer = frozenset()) -> Violation | None:
        """A dependence that `tree` violates, or None; `outer` are the functions around it."""
        match tree:
            case Loop():
                return self._check_nest(tree, outer)
            case Sequence(children):
                groups = tuple(statements(child) for child in children)
                if not self._order.in_order(outer, groups):
                    return next(self._out_of_order(self._order.active(outer), groups))
                violations = (self.first_violation(child, outer) for child in children)
                return next((v for v in violations if v is not None), None)
            case Leaf(name):
                if not self._overlap.in_order(outer, ((name,), (name,))):
                    pairs = next(pairs_between(self._overlap.active(outer), name, name))
                    return self._violation(pairs, Reason.TOGETHER, None)
                return None

    def _check_nest(self, loop: Loop, outer: Outer) -> Violation | None:
        """The violation in a nest. Schedules share those that they do not change."""
        key = id(loop), outer
        if key in self._legal:
            return None
        violation = self._check_loop(loop, outer)
        if violation is None:
            if len(self._legal) > MEMORY:
                self._legal.clear()
            # The loop is kept, so that its id stays its own.
            self._legal[key] = loop
        return violation

    def _check_loop(self, loop: Loop, outer: Outer) -> Violation | None:
        function = self.function(loop)
        if not self.is_forward(outer, loop):
            pairs = self._order.active(outer).lex_gt_at_multi_union_pw_aff(function.multi)
            return self._violation(pairs, Reason.BACKWARD, loop.name)
        if (loop.parallel or loop.vector is not None) and not self.is_coincident(outer, loop):
            if loop.parallel:
                return self._violation(self._apart(outer, function), Reason.PARALLEL, loop.name)
            pairs = self._order.active(outer).lex_lt_at_multi_union_pw_aff(function.multi)
            violation = self._lockstep(loop.body, pairs, loop.name)
            if violation is None and self._steps:
                apart = self._apart(outer, function)
                violation = self._steps_together(loop.body, apart, loop.name)
            if violation is not None:
                return violation
        return self.first_violation(loop.body, self.inside(outer, loop))

    def _apart(self, outer: Outer, function: Function) -> isl.UnionMap:
        """Active pairs, those of steps included, in different iterations of a loop."""
        active = self._overlap.active(outer)
        pairs = active.lex_lt_at_multi_union_pw_aff(function.multi)
        if not self._steps:
            return pairs
        return pairs.union(active.lex_gt_at_multi_union_pw_aff(function.multi))

    def _lockstep(self, tree: Tree, pairs: isl.UnionMap, loop: str) -> Violation | None:
        """A dependence that is violated when all iterations of `loop` run in lockstep.

        `pairs` have their source in an earlier iteration than their target. Each load, operation
        and store runs for all iterations before the next one does.
        """
        match tree:
            case Loop():
                multi = self.function(tree).multi
                wrong = pairs.lex_gt_at_multi_union_pw_aff(multi)
                if not wrong.is_empty():
                    return self._violation(wrong, Reason.VECTOR, loop)
                fixed = tree.run_time_size is None
                inside = pairs.eq_at_multi_union_pw_aff(multi) if fixed else pairs
                return self._lockstep(tree.body, inside, loop)
            case Sequence(children):
                groups = tuple(statements(child) for child in children)
                wrong = next(self._out_of_order(pairs, groups), None)
                if wrong is not None:
                    return Violation(wrong.dependence, wrong.pairs, Reason.VECTOR, loop)
                violations = (self._lockstep(child, pairs, loop) for child in children)
                return next((v for v in violations if v is not None), None)
            case Leaf(name):
                for own in pairs_between(pairs, name, name):
                    violation = self._violation(own, Reason.VECTOR, loop, self._loads_first)
                    if violation is not None:
                        return violation
                return None

    def _steps_together(self, tree: Tree, pairs: isl.UnionMap, loop: str) -> Violation | None:
        """Two steps of one reduction in the same place of different iterations in lockstep."""
        match tree:
            case Loop():
                fixed = tree.run_time_size is None
                multi = self.function(tree).multi
                inside = pairs.eq_at_multi_union_pw_aff(multi) if fixed else pairs
                return self._steps_together(tree.body, inside, loop)
            case Sequence(children):
                violations = (self._steps_together(child, pairs, loop) for child in children)
                return next((v for v in violations if v is not None), None)
            case Leaf(name):
                own = pairs_between(pairs, name, name)
                violations = (
                    _first_violated(self._steps, each, Reason.VECTOR, loop) for each in own
                )
                return next((v for v in violations if v is not None), None)

    def _loads_first(self, dependence: Dependence) -> bool:
        """Whether a dependence inside one statement holds when this runs operation by operation."""
        if dependence.kind is not DependenceKind.ANTI:
            return False
        kinds = [
            access.kind
            for access in self.dependences.scop.statement(dependence.source).accesses
            if access.array.name == dependence.array
        ]
        return kinds == sorted(kinds, key=lambda kind: kind is AccessKind.WRITE)

    def _out_of_order(self, active: isl.UnionMap, groups: Groups) -> Iterator[Violation]:
        for pairs in backward_pairs(active, groups):
            violation = self._violation(pairs, Reason.BACKWARD, None)
            if violation is not None:
                yield violation

    def _violation(
        self,
        pairs: isl.UnionMap,
        reason: Reason,
        loop: str | None,
        harmless: Callable[[Dependence], bool] = lambda _: False,
    ) -> Violation | None:
        kept = (each for each in self._conflicts if not harmless(each))
        return _first_violated(kept, pairs, reason, loop)


def _pairs_of(dependences: Dependences, items: Iterable[Dependence]) -> ActivePairs:
    return ActivePairs(union(dependences.scop, (item.relation for item in items)))


def _first_violated(
    items: Iterable[Dependence], pairs: isl.UnionMap, reason: Reason, loop: str | None
) -> Violation | None:
    """The first dependence that some of the pairs belong to, with those."""
    for dependence in items:
        for own in pairs_between(pairs, dependence.source, dependence.target):
            part = dependence.relation.intersect(isl.Map.from_union_map(own))
            if not part.is_empty():
                return Violation(dependence, part, reason, loop)
    return None


def _argument_of_floor(aff: isl.Aff) -> isl.Aff | None:
    """`f` if the function is `floor(f / size)`, up to scaling."""
    if aff.dim(isl.dim_type.div) != 1:
        return None
    division = aff.get_div(0)
    rest = aff.set_coefficient_val(isl.dim_type.div, 0, isl.Val(0))
    if not aff.get_coefficient_val(isl.dim_type.div, 0).is_one() or not rest.plain_is_zero():
        return None
    return division.scale_val(division.get_denominator_val())
