"""The interchanges of a nest by levels: what a classifier of loop pairs chooses from.

Loop interchange model 2023, section 5.3: levels are counted from the outermost loop of a nest, and
one class swaps two of the first seven.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from ...schedule_tree import Tree, loops
from ...transformations.interchange import Interchange
from .moves import Move
from .trees import certain_names, chains

LEVELS = 7
"""Loops of a nest that are looked at, from the outermost one."""

Levels = tuple[int, int]
"""Two levels of a nest, the outer one first."""


def swaps(nest: Tree) -> Mapping[Levels, Move]:
    """For every two levels, the move that swaps these loops, legal or not.

    Loops change places within chains of directly nested ones. Where several chains of a nest have
    both levels, as in a time loop with two nests inside, the move swaps them in each.
    """
    around = Counter(id(inner) for loop in loops(nest) for inner in loops(loop))
    steps: dict[Levels, list[Interchange]] = {}
    for members in chains(nest):
        outermost = around[id(members[0])] - 1
        for first, second in combinations(range(len(members)), 2):
            if outermost + second >= LEVELS:
                continue
            names = list(certain_names(members[first : second + 1]))
            names[0], names[-1] = names[-1], names[0]
            levels = (outermost + first, outermost + second)
            steps.setdefault(levels, []).append(Interchange(tuple(names)))
    return {levels: Move(tuple(steps[levels])) for levels in sorted(steps)}
