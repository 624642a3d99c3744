"""Pairs of instances that are active at a node of the schedule tree, with verdicts about them.

At a node, a pair is *active* when source and target agree on everything further out. Verdicts
depend on the set of functions that the loops further out take, not on their order, and those that
find no pair hold for every larger set. As `floor(f / size)` never decreases where `f` does not,
most questions about permuted and tiled loops are look-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import islpy as isl

# Entries after which remembered sets are dropped, to bound the memory of long searches.
MEMORY = 20_000

Groups = tuple[tuple[str, ...], ...]
"""The statements of each child of a sequence."""


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


@dataclass(eq=False)
class _Question:
    """A relation of active pairs, with the verdicts so far."""

    pairs: Callable[[isl.UnionMap, isl.MultiUnionPwAff], isl.UnionMap]
    verdicts: dict[Function, dict[Outer, bool]] = field(
        default_factory=dict[Function, dict[Outer, bool]]
    )


class ActivePairs:
    """The active pairs of a relation between instances."""

    def __init__(self, relation: isl.UnionMap) -> None:
        self._active: dict[Outer, isl.UnionMap] = {frozenset(): relation}
        self._ordered: dict[tuple[Outer, Groups], bool] = {}
        self._decreasing = _Question(isl.UnionMap.lex_gt_at_multi_union_pw_aff)
        self._increasing = _Question(isl.UnionMap.lex_lt_at_multi_union_pw_aff)

    def trust_forward(self, outer: Outer, function: Function) -> None:
        """Remembers that no active pair runs backwards along a loop."""
        self._decreasing.verdicts.setdefault(function, {})[outer] = True

    def trust_in_order(self, outer: Outer, groups: Groups) -> None:
        """Remembers that no active pair leads to an earlier group."""
        self._ordered[outer, groups] = True

    def active(self, outer: Outer) -> isl.UnionMap:
        """The pairs whose source and target agree on `outer`."""
        relation = self._active.get(outer)
        if relation is None:
            if len(self._active) > MEMORY:
                self._active = {frozenset(): self._active[frozenset()]}
            last = max(outer, key=lambda f: (f.argument is not None, f.number))
            relation = self.active(outer - {last}).eq_at_multi_union_pw_aff(last.multi)
            self._active[outer] = relation
        return relation

    def is_forward(self, outer: Outer, function: Function) -> bool:
        """Whether no active pair has its target at an earlier value of the function."""
        return self._none(self._decreasing, outer, function)

    def is_coincident(self, outer: Outer, function: Function) -> bool:
        """Whether source and target of all active pairs have the same value of the function."""
        return self._none(self._increasing, outer, function) and self._none(
            self._decreasing, outer, function
        )

    def in_order(self, outer: Outer, groups: Groups) -> bool:
        """Whether no active pair leads from a statement of a later group to an earlier one."""
        key = (outer, groups)
        verdict = self._ordered.get(key)
        if verdict is None:
            if len(self._ordered) > MEMORY:
                self._ordered.clear()
            whole = frozenset(f for f in outer if f.argument is None)
            verdict = (whole != outer and self.in_order(whole, groups)) or not any(
                True for _ in backward_pairs(self.active(outer), groups)
            )
            self._ordered[key] = verdict
        return verdict

    def _none(self, question: _Question, outer: Outer, function: Function) -> bool:
        verdicts = question.verdicts.setdefault(function, {})
        verdict = verdicts.get(outer)
        if verdict is None:
            if len(verdicts) > MEMORY:
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


def pairs_between(relation: isl.UnionMap, source: str, target: str) -> Iterator[isl.UnionMap]:
    """The part of the relation between two statements, if there is one."""
    maps: list[isl.Map] = []
    relation.foreach_map(maps.append)
    for part in maps:
        names = part.get_tuple_name(isl.dim_type.in_), part.get_tuple_name(isl.dim_type.out)
        if names == (source, target) and not part.is_empty():
            yield isl.UnionMap.from_map(part)


def backward_pairs(relation: isl.UnionMap, groups: Groups) -> Iterator[isl.UnionMap]:
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
