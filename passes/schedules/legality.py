"""Legality of schedule trees: exact, with verdicts cached per Scop.

At a node of the tree, a dependence is *active* when source and target agree on everything further
out. A tree is legal when no active dependence runs backwards along any loop, or from a later to an
earlier child of any sequence, or between instances that a mark lets run together.

A tile loop whose size is known when it runs has to be legal for every size. Two instances are in
different tiles of some size if their values differ at all, and in one tile of another: the loop
must not run backwards, nor be parallel, by its function, and fixes nothing for what is inside.

Verdicts depend on the set of functions that the loops further out take, not on their order, and
those that find no violation hold for every larger set. As `floor(f / size)` never decreases where
`f` does not, most questions about permuted and tiled loops are look-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import islpy as isl

from ..polyhedral.dependences import Dependence, DependenceKind, Dependences
from ..polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, statements, sum_of_affs
from ..polyhedral.scop import AccessKind
from .violation import Reason, Violation

# Entries after which remembered sets are dropped, to bound the memory of long searches.
_MEMORY = 20_000


@dataclass(frozen=True, eq=False)
class Function:
    """A loop's schedule function, shared by all loops with the same one.

    `text` has the function of each statement, `multi` is that over all of them, `argument` is `f`
    where this is `floor(f / size)`.
    """

    text: tuple[tuple[str, str], ...]
    multi: isl.MultiUnionPwAff
    argument: Function | None
    number: int


# The functions of the loops around a node, without those that others determine.
Outer = frozenset[Function]


@dataclass
class _Question:
    """A relation of active pairs, with the verdicts so far."""

    pairs: Callable[[isl.UnionMap, isl.MultiUnionPwAff], isl.UnionMap]
    verdicts: dict[Function, dict[Outer, bool]] = field(
        default_factory=dict[Function, dict[Outer, bool]]
    )


class Legality:
    """Legality queries about one Scop, given its dependences."""

    def __init__(self, dependences: Dependences) -> None:
        self.dependences = dependences
        self._functions: dict[tuple[tuple[str, str], ...], Function] = {}
        self._by_mapping: dict[int, tuple[Mapping[str, isl.Aff], Function]] = {}
        self._active: dict[Outer, isl.UnionMap] = {frozenset(): dependences.relation}
        self._ordered: dict[tuple[Outer, tuple[tuple[str, ...], ...]], bool] = {}
        self._legal: dict[tuple[int, Outer], Loop] = {}
        self._decreasing = _Question(isl.UnionMap.lex_gt_at_multi_union_pw_aff)
        self._increasing = _Question(isl.UnionMap.lex_lt_at_multi_union_pw_aff)
        self._trust(dependences.scop.tree, frozenset())

    def _trust(self, tree: Tree, outer: Outer) -> None:
        """Remembers that `tree`, from which the dependences come, runs none of them backwards."""
        match tree:
            case Loop():
                self._decreasing.verdicts.setdefault(self.function(tree), {})[outer] = True
                self._trust(tree.body, self.inside(outer, tree))
            case Sequence(children):
                self._ordered[outer, tuple(statements(child) for child in children)] = True
                for child in children:
                    self._trust(child, outer)
            case Leaf(name):
                self._ordered[outer, ((name,), (name,))] = True

    def function(self, loop: Loop) -> Function:
        """What the loop iterates over."""
        cached = self._by_mapping.get(id(loop.schedule))
        if cached is None:
            if len(self._by_mapping) > _MEMORY:
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
        """Dependences whose source and target agree on `outer`."""
        relation = self._active.get(outer)
        if relation is None:
            if len(self._active) > _MEMORY:
                self._active = {frozenset(): self._active[frozenset()]}
            last = max(outer, key=lambda f: (f.argument is not None, f.number))
            relation = self.active(outer - {last}).eq_at_multi_union_pw_aff(last.multi)
            self._active[outer] = relation
        return relation

    def is_forward(self, outer: Outer, loop: Loop) -> bool:
        """Whether no active dependence has a target in an earlier iteration of the loop."""
        return self._none(self._decreasing, outer, self.function(loop))

    def is_coincident(self, outer: Outer, loop: Loop) -> bool:
        """Whether active dependences stay inside iterations of the loop."""
        function = self.function(loop)
        return self._none(self._increasing, outer, function) and self._none(
            self._decreasing, outer, function
        )

    def _none(self, question: _Question, outer: Outer, function: Function) -> bool:
        verdicts = question.verdicts.setdefault(function, {})
        verdict = verdicts.get(outer)
        if verdict is None:
            if len(verdicts) > _MEMORY:
                verdicts.clear()
            verdict = verdicts[outer] = self._decide(question, outer, function, verdicts)
        return verdict

    def _decide(
        self,
        question: _Question,
        outer: Outer,
        function: Function,
        verdicts: Mapping[Outer, bool],
    ) -> bool:
        for other, verdict in verdicts.items():
            if verdict and other < outer:
                return True
            if not verdict and outer < other:
                return False
        if function.argument is not None and self._none(question, outer, function.argument):
            return True
        whole = frozenset(f for f in outer if f.argument is None)
        if whole != outer and self._none(question, whole, function):
            return True
        return question.pairs(self.active(outer), function.multi).is_empty()

    def first_violation(self, tree: Tree, outer: Outer = frozenset()) -> Violation | None:
        """A dependence that `tree` violates, or None; `outer` are the functions around it."""
        match tree:
            case Loop():
                return self._check_nest(tree, outer)
            case Sequence(children):
                groups = tuple(statements(child) for child in children)
                if not self._in_order(outer, groups):
                    return next(self._out_of_order(self.active(outer), groups))
                violations = (self.first_violation(child, outer) for child in children)
                return next((v for v in violations if v is not None), None)
            case Leaf(name):
                if not self._in_order(outer, ((name,), (name,))):
                    pairs = next(_pairs(self.active(outer), name, name))
                    return self._violation(pairs, Reason.TOGETHER, None)
                return None

    def _check_nest(self, loop: Loop, outer: Outer) -> Violation | None:
        """The violation in a nest. Schedules share those that they do not change."""
        key = id(loop), outer
        if key in self._legal:
            return None
        violation = self._check_loop(loop, outer)
        if violation is None:
            if len(self._legal) > _MEMORY:
                self._legal.clear()
            # The loop is kept, so that its id stays its own.
            self._legal[key] = loop
        return violation

    def _check_loop(self, loop: Loop, outer: Outer) -> Violation | None:
        function = self.function(loop)
        if not self.is_forward(outer, loop):
            pairs = self.active(outer).lex_gt_at_multi_union_pw_aff(function.multi)
            return self._violation(pairs, Reason.BACKWARD, loop.name)
        if (loop.parallel or loop.vector is not None) and not self.is_coincident(outer, loop):
            pairs = self.active(outer).lex_lt_at_multi_union_pw_aff(function.multi)
            if loop.parallel:
                return self._violation(pairs, Reason.PARALLEL, loop.name)
            violation = self._lockstep(loop.body, pairs, loop.name)
            if violation is not None:
                return violation
        return self.first_violation(loop.body, self.inside(outer, loop))

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
                for own in _pairs(pairs, name, name):
                    violation = self._violation(own, Reason.VECTOR, loop, self._loads_first)
                    if violation is not None:
                        return violation
                return None

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

    def _in_order(self, outer: Outer, groups: tuple[tuple[str, ...], ...]) -> bool:
        key = (outer, groups)
        verdict = self._ordered.get(key)
        if verdict is None:
            if len(self._ordered) > _MEMORY:
                self._ordered.clear()
            whole = frozenset(f for f in outer if f.argument is None)
            verdict = (whole != outer and self._in_order(whole, groups)) or not any(
                True for _ in _backward_pairs(self.active(outer), groups)
            )
            self._ordered[key] = verdict
        return verdict

    def _out_of_order(
        self, active: isl.UnionMap, groups: tuple[tuple[str, ...], ...]
    ) -> Iterator[Violation]:
        for pairs in _backward_pairs(active, groups):
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
        for dependence in self.dependences:
            if harmless(dependence):
                continue
            for own in _pairs(pairs, dependence.source, dependence.target):
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


def _pairs(relation: isl.UnionMap, source: str, target: str) -> Iterator[isl.UnionMap]:
    """The part of the relation between two statements, if there is one."""
    maps: list[isl.Map] = []
    relation.foreach_map(maps.append)
    for part in maps:
        names = part.get_tuple_name(isl.dim_type.in_), part.get_tuple_name(isl.dim_type.out)
        if names == (source, target) and not part.is_empty():
            yield isl.UnionMap.from_map(part)


def _backward_pairs(
    relation: isl.UnionMap, groups: tuple[tuple[str, ...], ...]
) -> Iterator[isl.UnionMap]:
    """Parts of the relation from a statement of a later group to one of an earlier group."""
    # One statement may be in both of two groups, as where it is compared with itself.
    places = [
        (name, (group, place))
        for group, names in enumerate(groups)
        for place, name in enumerate(names)
    ]
    last, first = dict(places), dict(reversed(places))
    maps: list[isl.Map] = []
    relation.foreach_map(maps.append)
    backward: list[tuple[tuple[int, ...], isl.Map]] = []
    for part in maps:
        source = last.get(part.get_tuple_name(isl.dim_type.in_) or "")
        target = first.get(part.get_tuple_name(isl.dim_type.out) or "")
        if source is not None and target is not None and source[0] > target[0]:
            backward.append(((source[0], target[0], source[1], target[1]), part))
    for _, part in sorted(backward, key=lambda found: found[0]):
        if not part.is_empty():
            yield isl.UnionMap.from_map(part)
