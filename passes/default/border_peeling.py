"""Peeling of loops with conditions at their borders, for an interior without them.

Stencils that repeat their outermost elements, or take others' there, read what depends on whether
an iteration is among the first or last of its loop. Vectors of such iterations need masks for each
way to go; all but a few go the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

import islpy as isl

from ..estimate.program_statistics import StatementStatistics
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Leaf, Loop, loops, loops_around, statements
from ..schedules.affine_sums import text_of_sum
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from .guard_splitting import LEAST_INTERIOR
from .size_sums import SizeSum, size_sum, sum_of
from .steps import split_parts

_SET = isl.dim_type.set


def peeled_borders(schedule: Schedule, context: SchedulingContext) -> Schedule | None:
    """The program with innermost loops cut before and behind their interior; None if none has any.

    for j in [0, n):              for j in [0, 1): S; U
      if j == 0: S           ->   for j in [1, n): T; U
      else: T
      U
    """
    result = schedule
    for members in _innermost_bodies(schedule):
        result = _peeled(result, members, context)
    return None if result is schedule else result


def _innermost_bodies(schedule: Schedule) -> Iterator[tuple[str, ...]]:
    """The statements of each innermost loop around several of them."""
    for loop in loops(schedule.tree):
        if loop.depth == 1 and not isinstance(loop.body, Leaf):
            yield statements(loop)


def _peeled(schedule: Schedule, members: Sequence[str], context: SchedulingContext) -> Schedule:
    """The program with the innermost loop around statements cut where its interior begins and ends.

    As it was where that is a small part of the loop, or all, or runs nothing.
    """
    known = context.statistics(schedule.scop).statements
    loop = loops_around(schedule.tree, members[0])[-1]
    cuts: dict[int, SizeSum] = {}
    for name in members:
        iterator = known[name].iterator_of(loop)
        if iterator is None:
            return schedule
        for at, place in _cuts(known[name], iterator):
            cuts[at] = place or cuts.get(at) or {"": at}
    if len(cuts) < 3:
        return schedule
    ordered = sorted(cuts)
    begin, end = max(pairwise(ordered), key=lambda part: part[1] - part[0])
    if end - begin < LEAST_INTERIOR * (ordered[-1] - ordered[0]):
        return schedule
    inside = next((name for name in members if _runs_within(known[name], loop, begin, end)), None)
    if inside is None:
        return schedule
    places = [text_of_sum(cuts[at]) for at in (begin, end) if at not in (ordered[0], ordered[-1])]
    with suppress(TransformationError):
        return split_parts(schedule, inside, loop.name, places)[0]
    return schedule


def _cuts(statement: StatementStatistics, iterator: int) -> Iterator[tuple[int, SizeSum | None]]:
    """The first value of an iterator and the one behind its last, and both as sums of sizes.

    None at all where there are no points or a size is not known; no sums where they are none.
    """
    points, domain = statement.points, statement.statement.domain
    low, high = points.dim_min_val(iterator), points.dim_max_val(iterator)
    if low.is_int() and high.is_int():
        last = size_sum(domain.dim_max(iterator))
        yield low.to_python(), size_sum(domain.dim_min(iterator))
        yield high.to_python() + 1, last and sum_of(last, {"": 1})


def _runs_within(statement: StatementStatistics, loop: Loop, begin: int, end: int) -> bool:
    """Whether a statement runs at a loop's values from one to before the other."""
    iterator = statement.iterator_of(loop)
    assert iterator is not None
    points = statement.points.lower_bound_val(_SET, iterator, _value(statement, begin))
    return not points.upper_bound_val(_SET, iterator, _value(statement, end - 1)).is_empty()


def _value(statement: StatementStatistics, number: int) -> isl.Val:
    return isl.Val.int_from_si(statement.points.get_ctx(), number)
