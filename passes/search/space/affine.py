"""Unimodular moves: interchange, reversal, skewing (LOOPer, section 4.2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.schedule_tree import Tree, chains, loops
from ...schedules.schedule import Schedule
from ...transformations.interchange import Interchange
from ...transformations.reverse import Reverse
from ...transformations.skew import Skew
from ...transformations.wavefront import Wavefront
from .loop_pairs import Levels, LoopPairModel, interchanges_by_levels
from .moves import Move, Proposer, one
from .trees import certain_names

SKEW_FACTORS = (1, 2)
"""What schedulers in the manner of Pluto give for nearly all programs."""

SHOTS = 2
"""Answers of a model of interchanges that are looked at: one of two is the best as a rule."""


def interchanges(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """Every two loops of a chain change places."""
    for members in chains(part):
        for first, second in combinations(range(len(members)), 2):
            names = list(certain_names(members[first : second + 1]))
            names[0], names[-1] = names[-1], names[0]
            yield one(Interchange(tuple(names)))


def predicted_interchanges(model: LoopPairModel, shots: int = SHOTS) -> Proposer:
    """Proposes the first answers of a model in place of every interchange.

    An answer that is not legal is passed over; to leave the nest as it is counts as one.
    """

    def propose(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
        moves = interchanges_by_levels(part)
        if not moves:
            return
        ratings = model.rate(context, schedule, part)
        if not ratings:
            yield from interchanges(schedule, part, context)
        left: set[Levels | None] = {None, *moves}
        for rating in ratings[:shots]:
            for levels in sorted(left, key=lambda levels: -rating[levels]):
                left.remove(levels)
                if levels is None:
                    break
                if moves[levels].apply(schedule) is not None:
                    yield moves[levels]
                    break

    return propose


def reversals(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """Every loop runs backwards."""
    for loop in loops(part):
        yield one(Reverse(certain_names([loop])))


def skews(schedule: Schedule, part: Tree, context: SchedulingContext) -> Iterator[Move]:
    """Loops of a chain are skewed by one further out, or two of them become wavefronts."""
    for members in chains(part):
        for first in range(len(members) - 1):
            for last in range(first + 1, len(members)):
                names = certain_names(members[first : last + 1])
                for factor in SKEW_FACTORS:
                    yield one(Skew(names, factors=(factor,) * (last - first)))
            pair = certain_names(members[first : first + 2])
            for factor in SKEW_FACTORS:
                yield one(Wavefront(pair, factors=(factor, 1)))
