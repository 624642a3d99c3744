"""Workload `interchange`: every legal interchange of random programs of one nest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ....passes.polyhedral.schedule_tree import chains
from ....passes.schedules.schedule import Schedule
from ....passes.search.space.loop_pairs import interchanges_by_levels
from ....passes.search.space.trees import certain_names
from ....passes.transformations.interchange import Interchange
from ...generator import Mix
from ...labelled_data import SeededWorkload

ONE_NEST = Mix(
    nests={1: 1.0},
    depths={2: 0.30, 3: 0.38, 4: 0.17, 5: 0.08, 6: 0.04, 7: 0.03},
    seconds=(8e-4, 1.2e-2),
)
"""One nest of two loops or more, so that there is something to interchange."""


@dataclass(frozen=True)
class InterchangeWorkload(SeededWorkload):
    """Every legal interchange of two levels of programs of one nest, and nothing else.

    The order as written is among the schedules, as an interchange that leaves all loops where
    they are: it is compiled as the others are, other than the program itself, and the best of them
    is the best order and not the best compiler.
    """

    origin: ClassVar[str] = "interchange"
    mix: ClassVar[Mix] = ONE_NEST

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """The order as written (`I()`), then the others, named by levels: `I(L0,L2)`."""
        yield from every_interchange(original)


def every_interchange(original: Schedule) -> Iterator[tuple[Schedule, str]]:
    """All legal interchanges of two levels of a program of one nest; none where there is none."""
    changed = [
        (schedule, f"I(L{outer},L{inner})")
        for (outer, inner), move in interchanges_by_levels(original.tree).items()
        if (schedule := move.apply(original)) is not None
    ]
    if changed:
        longest = max(chains(original.tree), key=len)
        yield original.apply(Interchange(certain_names(longest))), "I()"
        yield from changed
