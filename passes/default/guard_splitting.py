"""Index-set splitting at guards: an interior without conditions, and borders.

Padding is a condition inside of a reduction, `0 <= y + k - 1 < n`. For most values of `y` it holds
for all `k`: there the nest is what it would be without padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import islpy as isl

from ..estimate.program_statistics import StatementStatistics
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.isl_context import coalesced
from ..polyhedral.limited_iterators import missing_points, values_of
from ..polyhedral.schedule_tree import Loop, chain, loops_around
from ..schedules.affine_sums import text_of_sum
from ..schedules.errors import MalformedTransformation, TransformationError
from ..schedules.schedule import Schedule
from ..transformations.interchange import Interchange
from .size_sums import size_sum, sum_of
from .steps import split_parts

LEAST_INTERIOR = 1 / 3
"""The part of a loop's values for which the conditions must hold, or the same statements run."""

_SET = isl.dim_type.set


@dataclass(frozen=True)
class Interior:
    """The values of an iterator in the middle, by the numbers of those before and behind them."""

    iterator: int
    before: int
    behind: int


def with_guards(
    schedule: Schedule, groups: Iterable[tuple[str, ...]], context: SchedulingContext
) -> list[tuple[str, ...]]:
    """Of nests, each the names of its statements, those with conditions in a small part of it."""
    known = context.statistics(schedule.scop).statements
    return [names for names in groups if any(any(interiors(known[name])) for name in names)]


def split_at_guards(
    schedule: Schedule, groups: Iterable[tuple[str, ...]], context: SchedulingContext
) -> Schedule | None:
    """Nests with conditions in interior and borders, each a nest; None if there are none.

    `groups` are the statements of each nest.

    for y in [0, n): for k in [0, 3): if 0 <= y + k - 1 < n: S
    ->  for y in [0, 1): for k in [1, 3): S
        for y in [1, n - 1): for k in [0, 3): S
        for y in [n - 1, n): for k in [0, 2): S
    """
    result = schedule
    for names in groups:
        for name in names:
            split = _split(result, name, context)
            if split is not None:
                result = split
                break
    return None if result is schedule else result


def _split(schedule: Schedule, name: str, context: SchedulingContext) -> Schedule | None:
    """The nest of a statement in parts; None where it has no conditions, or they stay."""
    result = schedule
    try:
        for interior in interiors(context.statistics(schedule.scop).statements[name]):
            result, name = _divided(result, name, interior, context)
    except TransformationError:
        return None
    return None if result is schedule else result


def interiors(statement: StatementStatistics) -> Iterator[Interior]:
    """Of which loops the middle is to be taken so that the instances left are a box."""
    points = statement.points
    if points.n_basic_set() != 1 or points.is_box() or not _has_ends(points):
        return
    while True:
        found = [_interior(points, k) for k in range(points.dim(_SET))]
        shares = [(share, k) for k, (share, _) in enumerate(found) if LEAST_INTERIOR <= share < 1]
        if not shares:
            return
        iterator = max(shares)[1]
        inside = found[iterator][1]
        (first, last), (low, high) = _ends(points, iterator), _ends(inside, iterator)
        yield Interior(iterator, low - first, last - high)
        points = points.intersect(inside)


def _divided(
    schedule: Schedule, name: str, interior: Interior, context: SchedulingContext
) -> tuple[Schedule, str]:
    """The nest cut before and behind the interior, and the statement's name there.

    Raises TransformationError.
    """
    statistics = context.statistics(schedule.scop).statements[name]
    outer = loops_around(schedule.tree, name)
    loop = next((each for each in outer if statistics.iterator_of(each) == interior.iterator), None)
    if loop is None or loop not in chain(outer[0]):
        raise MalformedTransformation("the loop is not around the whole nest")
    around = outer[: outer.index(loop) + 1]
    order = (loop, *around[:-1])
    if loop is not outer[0]:
        schedule = schedule.apply(Interchange(_names(name, order)))
    schedule, parts = split_parts(schedule, name, loop.name, _places(statistics, interior))
    if loop is not outer[0]:
        for part in parts:
            schedule = schedule.apply(Interchange(_names(part, around)))
    return schedule, parts[1 if interior.before else 0]


def _names(statement: str, loops: Iterable[Loop]) -> tuple[str, ...]:
    return tuple(f"{statement}.{loop.name}" for loop in loops)


def _places(statement: StatementStatistics, interior: Interior) -> Iterator[str]:
    """Where the interior begins and ends, in terms of sizes where its loop's bounds are."""
    domain, iterator = statement.statement.domain, interior.iterator
    first, last = _ends(statement.points, iterator)
    if interior.before:
        begin = size_sum(domain.dim_min(iterator)) or {"": first}
        yield text_of_sum(sum_of(begin, {"": interior.before}))
    if interior.behind:
        end = size_sum(domain.dim_max(iterator)) or {"": last}
        yield text_of_sum(sum_of(end, {"": 1 - interior.behind}))


def _interior(points: isl.Set, iterator: int) -> tuple[float, isl.Set]:
    """The values of an iterator that set no limits to the others: their share, and the points."""
    missing, wide = missing_points(points, iterator), values_of(points, iterator)
    inside = coalesced(wide.subtract(values_of(missing, iterator)))
    if missing.is_empty():
        return 1.0, inside
    if inside.is_empty() or inside.n_basic_set() != 1:
        return 0.0, inside
    (low, high), (first, last) = _ends(inside, iterator), _ends(wide, iterator)
    return (high - low + 1) / (last - first + 1), inside


def _has_ends(points: isl.Set) -> bool:
    """Whether there are points, and all iterators have a first and last value: sizes are known."""
    return all(
        points.dim_min_val(iterator).is_int() and points.dim_max_val(iterator).is_int()
        for iterator in range(points.dim(_SET))
    )


def _ends(points: isl.Set, iterator: int) -> tuple[int, int]:
    """The first and the last value of an iterator."""
    low, high = points.dim_min_val(iterator), points.dim_max_val(iterator)
    return low.to_python(), high.to_python()
