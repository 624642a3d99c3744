"""Interchanges of a nest by pairs of levels: the classes of a loop-pair classifier.

Loop interchange model 2023, section 5.3: levels are counted from the outermost loop of a nest, and
one class swaps two of the first seven.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Protocol, runtime_checkable

from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.schedule_tree import Loop, Tree, chains, loops
from ...schedules.schedule import Schedule
from ...transformations.interchange import Interchange
from .moves import Move
from .trees import certain_names

LEVELS = 7
"""Loops of a nest that are looked at, from the outermost one."""

Levels = tuple[int, int]
"""Two levels of a nest, the outer one first."""


@runtime_checkable
class LoopPairModel(Protocol):
    """Rates all interchanges of a nest at once."""

    def rate(
        self, context: SchedulingContext, schedule: Schedule, nest: Tree
    ) -> Sequence[Mapping[Levels | None, float]]:
        """For the best answer, the second best ... the rating of every two levels; None: of none.

        `nest` is a top-level nest of the schedule. Nothing where the model does not know the like.
        """
        ...


def chains_by_levels(nest: Tree) -> Mapping[Levels, Sequence[tuple[Loop, ...]]]:
    """For every two levels, the chains between them, both ends included.

    Loops change places within chains of directly nested ones. Several chains of a nest may have
    both levels, as in a time loop with two nests inside.
    """
    around = Counter(id(inner) for loop in loops(nest) for inner in loops(loop))
    found: dict[Levels, list[tuple[Loop, ...]]] = {}
    for members in chains(nest):
        outermost = around[id(members[0])] - 1
        for first, second in combinations(range(len(members)), 2):
            if outermost + second < LEVELS:
                levels = (outermost + first, outermost + second)
                found.setdefault(levels, []).append(members[first : second + 1])
    return {levels: found[levels] for levels in sorted(found)}


def interchanges_by_levels(nest: Tree) -> Mapping[Levels, Move]:
    """For every two levels, the move that swaps these loops in every chain, legal or not."""
    return {
        levels: Move(tuple(_swap(members) for members in found))
        for levels, found in chains_by_levels(nest).items()
    }


def _swap(members: Sequence[Loop]) -> Interchange:
    first, *between, last = certain_names(tuple(members))
    return Interchange((last, *between, first))
