"""The dependences that generated code must keep.

The steps of a reduction may run in any order where the numerics rule allows it: where the operation
gives the same result in any order, carries `fastmath<reassoc>`, or the user has asked for it. They
may be steps of several statements, if these accumulate in the element by one operation. All other
accesses to an element must then stay before or after all of its steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from ...passes.polyhedral.dependences import Dependence, Dependences, steps_between
from ...passes.polyhedral.isl_context import coalesced
from .order import Event, backward
from .verdict import Property, ViolatedError, Witness


class KeptDependences:
    """The dependences to keep; with `reassociate`, without those of reassociable reductions."""

    def __init__(self, dependences: Dependences, *, reassociate: bool) -> None:
        self.dependences = dependences.with_partial_accumulations
        self.reassociate = reassociate
        self._free_steps: dict[tuple[str, str], isl.Map | None] = {}

    def may_reorder(self, statement: str) -> bool:
        """Whether the steps of a statement, if it accumulates, may run in any order."""
        accumulation = self.dependences.accumulations.get(statement)
        return accumulation is not None and (self.reassociate or accumulation.reassociable)

    def free_steps(self, source: str, target: str) -> isl.Map | None:
        """The pairs of steps of one or two statements that may run in any order; None if none."""
        if not (self.may_reorder(source) and self.may_reorder(target)):
            return None
        pair = source, target
        if pair not in self._free_steps:
            self._free_steps[pair] = steps_between(self.dependences.accumulations, *pair)
        return self._free_steps[pair]

    def without_free_steps(self, pairs: isl.Map, source: str, target: str) -> isl.Map:
        """The pairs of instances of two statements that must keep their order."""
        steps = self.free_steps(source, target)
        return pairs if steps is None else pairs.subtract(steps)

    def strict(self, array: str) -> list[Dependence]:
        """The dependences through an array."""
        return [item for item in self.dependences if item.array == array]

    def relaxed(self, array: str) -> list[Dependence]:
        """Those that are left where steps of reductions run in another order."""
        items = [
            *(item for item in self.dependences.relaxed if item.array == array),
            *(item for item in self.strict(array) if item.reduction),
        ]
        found: list[Dependence] = []
        for item in items:
            relation = self.without_free_steps(item.relation, item.source, item.target)
            if not relation.is_empty():
                found.append(replace(item, relation=relation))
        return found

    def check(
        self, arrays: Iterable[str], events: Mapping[str, Sequence[Event]], context: isl.Set
    ) -> None:
        """Raises ViolatedError unless the dependences through the arrays keep their order."""
        items = [item for array in arrays for item in self.strict(array)]
        reordered: set[str] = set()
        for group in _by_statements(items):
            whole = group[0].relation
            for item in group[1:]:
                whole = whole.union(item.relation)
            if _backward(group[0], coalesced(whole), events, context) is not None:
                reordered |= self._check_each(group, events, context)
        for array in reordered:
            for item in self.relaxed(array):
                self._check_each([item], events, context)

    def _check_each(
        self, items: Sequence[Dependence], events: Mapping[str, Sequence[Event]], context: isl.Set
    ) -> set[str]:
        """The arrays in which reductions run in another order; raises ViolatedError."""
        reordered: set[str] = set()
        for item in items:
            if _backward(item, item.relation, events, context) is None:
                continue
            fixed = self.without_free_steps(item.relation, item.source, item.target)
            wrong = _backward(item, fixed, events, context)
            if wrong is not None:
                message = (
                    f"the {item.kind.value} dependence from {item.source} to {item.target} on "
                    f"{item.array} runs backwards"
                )
                raise ViolatedError(Property.ORDER, message, Witness.between(wrong))
            reordered.add(item.array)
        return reordered


def _by_statements(items: Iterable[Dependence]) -> list[list[Dependence]]:
    groups: dict[tuple[str, str], list[Dependence]] = {}
    for item in items:
        groups.setdefault((item.source, item.target), []).append(item)
    return list(groups.values())


def _backward(
    item: Dependence,
    relation: isl.Map,
    events: Mapping[str, Sequence[Event]],
    context: isl.Set,
) -> isl.Map | None:
    relation = relation.intersect_params(context)
    return backward(relation, events[item.source], events[item.target])
