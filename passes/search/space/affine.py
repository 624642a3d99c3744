"""Unimodular moves: interchange, reversal, skewing (LOOPer, section 4.2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ...default.request import Request
from ...schedule import Schedule
from ...schedule_tree import Tree, loops
from ...transformations.interchange import Interchange
from ...transformations.reverse import Reverse
from ...transformations.skew import Skew
from ...transformations.wavefront import Wavefront
from .moves import Move, one
from .trees import certain_names, chains

SKEW_FACTORS = (1, 2)
"""What schedulers in the manner of Pluto give for nearly all programs."""


def interchanges(schedule: Schedule, part: Tree, request: Request) -> Iterator[Move]:
    """Every two loops of a chain change places."""
    for members in chains(part):
        for first, second in combinations(range(len(members)), 2):
            names = list(certain_names(members[first : second + 1]))
            names[0], names[-1] = names[-1], names[0]
            yield one(Interchange(tuple(names)))


def reversals(schedule: Schedule, part: Tree, request: Request) -> Iterator[Move]:
    """Every loop runs backwards."""
    for loop in loops(part):
        yield one(Reverse(certain_names([loop])))


def skews(schedule: Schedule, part: Tree, request: Request) -> Iterator[Move]:
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
