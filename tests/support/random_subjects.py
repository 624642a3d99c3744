"""Random loops that a transformation may be about, chosen among some loops of a schedule."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from loopwright.passes.polyhedral import schedule_tree
from loopwright.passes.polyhedral.schedule_tree import Loop, chain, loops, walk
from loopwright.passes.schedules.schedule import Schedule

from .choice import Chooser, chance, choose, distinct


def one_loop(chooser: Chooser, _: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    """Any loop."""
    return [choose(chooser, existing)]


def _innermost(chooser: Chooser, _: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    """As a rule a loop without others inside."""
    inner = [loop for loop in existing if len(list(loops(loop))) == 1]
    return [choose(chooser, inner if inner and chance(chooser, 75) else existing)]


def _chain(chooser: Chooser, _: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    """Loops directly inside each other, outermost first."""
    starts = [loop for loop in existing if len(chain(loop)) > 1] or existing
    members = chain(choose(chooser, starts))
    return list(members[: chooser.integer(min(2, len(members)), len(members))])


def _pair(chooser: Chooser, _: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    return _chain(chooser, _, existing)[:2]


def _chain_or_one(chooser: Chooser, _: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    pick = one_loop if chance(chooser, 30) else _chain
    return pick(chooser, _, existing)


def _permuted(chooser: Chooser, _: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    members = _chain(chooser, _, existing)
    return distinct(chooser, members, len(members))


def _siblings(chooser: Chooser, schedule: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    """Loops that follow each other."""
    runs: list[list[Loop]] = []
    for node in walk(schedule.tree):
        if isinstance(node, schedule_tree.Sequence):
            for one, other in itertools.pairwise(node.children):
                if isinstance(one, Loop) and isinstance(other, Loop):
                    runs.append([one, other])
    return choose(chooser, runs) if runs else _chain(chooser, schedule, existing)


def _nested(chooser: Chooser, _: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    """A loop, with or without one somewhere inside."""
    outer = one_loop(chooser, _, existing)
    inside = list(loops(outer[0].body))
    return [*outer, choose(chooser, inside)] if inside and chance(chooser, 30) else outer


def _outermost(chooser: Chooser, schedule: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    """As a rule a loop that no other is around."""
    outer = [loop for loop in existing if not schedule.outer(loop)]
    return [choose(chooser, outer if outer and chance(chooser, 90) else existing)]


def _with_siblings(chooser: Chooser, schedule: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    """A loop beside which something else runs."""
    found = [
        child
        for node in walk(schedule.tree)
        if isinstance(node, schedule_tree.Sequence)
        for child in node.children
        if isinstance(child, Loop)
    ]
    return [choose(chooser, found or existing)]


def _with_parts(chooser: Chooser, _: Schedule, existing: Sequence[Loop]) -> list[Loop]:
    """A loop that runs several things in sequence."""
    found = [loop for loop in existing if isinstance(loop.body, schedule_tree.Sequence)]
    return [choose(chooser, found or existing)]


def _nothing(_chooser: Chooser, _: Schedule, _existing: Sequence[Loop]) -> list[Loop]:
    return []


# what a transformation is about, where that is not one loop
SUBJECTS: dict[str, Callable[[Chooser, Schedule, Sequence[Loop]], list[Loop]]] = {
    "vectorize": _innermost,
    "interchange": _permuted,
    "tile": _chain_or_one,
    "skew": _chain,
    "wavefront": _pair,
    "distribute": _chain_or_one,
    "fuse": _siblings,
    "sink": _with_siblings,
    "retime": _with_parts,
    "affine-schedule": _nothing,
    "reorder": _nothing,
    "diamond": _pair,
    "expand": _nested,
    "modulo-unroll": _outermost,
    "double-buffer": _outermost,
    "hoist": _nothing,
    "separate-offsets": _nothing,
}
