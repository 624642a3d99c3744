"""The dependences that generated code must keep.

The steps of a reduction may run in any order where the numerics rule allows it: where the operation
gives the same result in any order, carries `fastmath<reassoc>`, or the user has asked for it. All
other accesses to an element must then stay before or after all of its steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import islpy as isl

from ...passes.polyhedral.dependences import Dependence, Dependences
from .order import Event, backward
from .verdict import Property, ViolatedError, Witness


class KeptDependences:
    """The dependences to keep; with `reassociate`, without those of reassociable reductions."""

    def __init__(self, dependences: Dependences, *, reassociate: bool) -> None:
        self.dependences = dependences.with_partial_accumulations
        self.reassociate = reassociate

    def may_reorder(self, statement: str) -> bool:
        """Whether the steps of a statement, if it accumulates, may run in any order."""
        accumulation = self.dependences.accumulations.get(statement)
        return accumulation is not None and (self.reassociate or accumulation.reassociable)

    def strict(self, array: str) -> list[Dependence]:
        """The dependences through an array."""
        return [item for item in self.dependences if item.array == array]

    def relaxed(self, array: str) -> list[Dependence]:
        """Those that are left where steps of reductions run in another order."""
        return [
            *(item for item in self.dependences.relaxed if item.array == array),
            *(
                item
                for item in self.strict(array)
                if item.reduction and not self.may_reorder(item.source)
            ),
        ]

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
            if _backward(group[0], whole.coalesce(), events, context) is not None:
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
            wrong = _backward(item, item.relation, events, context)
            if wrong is None:
                continue
            if not item.reduction or not self.may_reorder(item.source):
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
