"""Stages of stencils over the same rows: rows in one loop, and strips of rows that stay in caches.

What one stage has written, the next one reads, as smoothing, gradients and products of an image do.
Arrays that do not fit in a core's caches would be read from memory by each of them. As the threads
meet behind each part of a strip, they need neither rows twice nor wait for each other in between
(shift-and-fuse: Manjikian and Abdelrahman, "Fusion of loops for parallelism and locality", IEEE
TPDS 1997).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, leaves, nests, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.fuse import Fuse
from ..transformations.strip_mine import StripMine
from .steps import attempt

LARGEST_WINDOW = 64
"""Terms of the sums of a stage, as of a window of an image: longer ones are bound by arithmetic."""

FILLED = 0.6
"""The part of the cores' own caches that the rows of a strip fill."""

FEWEST_ROWS = 16
"""Rows of a strip for each thread: what the threads start and wait for must not count."""


def orders_by_rows(schedule: Schedule, context: SchedulingContext) -> Iterator[Schedule]:
    """Neighbouring nests over the same rows in one loop over these, then all of them in strips.

    for i: for j: A[i, j] = ...            for i: for j: A[i, j] = ...
    for i: for j: B[i, j] = f(A[i, j])  ->        for j: B[i, j] = f(A[i, j])
    for i: for j: C[i, j] = f(B[i + 1, j]) for i: for j: C[i, j] = f(B[i + 1, j])

    for strip:
      for i in strip: for j: A[i, j] = ...
                      for j: B[i, j] = f(A[i, j])
      for i in strip: for j: C[i - 1, j] = f(B[i, j])
    """
    statistics = context.statistics(schedule.scop)
    near = schedule.target.capacity(2) * context.threads
    if sum(map(statistics.bytes, schedule.scop.arrays)) <= near:
        return
    joined = _joined(schedule, context)
    if joined is not schedule:
        yield joined
    strips = _in_strips(joined, context, near)
    if strips is not None:
        yield strips


def _joined(schedule: Schedule, context: SchedulingContext) -> Schedule:
    """Neighbours in one loop whose iterations stay independent."""
    position = 0
    while position + 1 < len(nests(schedule.tree)):
        pair = nests(schedule.tree)[position : position + 2]
        fused = None
        if _shares_rows(schedule, pair[0], pair[1], context):
            fused = attempt(schedule, Fuse(tuple(_name(loop) for loop in pair)))
        loop = None if fused is None else nests(fused.tree)[position]
        if fused is not None and isinstance(loop, Loop) and fused.is_coincident(loop):
            schedule = fused
        else:
            position += 1
    return schedule


def _in_strips(schedule: Schedule, context: SchedulingContext, near: float) -> Schedule | None:
    """The longest chain of neighbours in strips, each as one loop in them; None without any."""
    parts = nests(schedule.tree)
    linked = [_shares_rows(schedule, first, second, context) for first, second in pairwise(parts)]
    chains = [
        (first, end)
        for first in range(len(parts))
        for end in range(first + 2, len(parts) + 1)
        if all(linked[first : end - 1])
    ]
    if not chains:
        return None
    first, end = max(chains, key=lambda each: each[1] - each[0])
    members = [loop for loop in parts[first:end] if isinstance(loop, Loop)]
    rows = _rows(schedule, members, context, near)
    if rows is None:
        return None
    try:
        fused = schedule.apply(Fuse(tuple(map(_name, members)), shift="auto"))
        loop = nests(fused.tree)[first]
        assert isinstance(loop, Loop)
        name = f"{statements(loop)[0]}.{loop.name}"
        ends = tuple(statements(each)[-1] for each in members[:-1])
        return fused.apply_all([StripMine((name,), rows), Distribute((name,), ends)])
    except TransformationError:
        return None


def _rows(
    schedule: Schedule, members: list[Loop], context: SchedulingContext, near: float
) -> int | None:
    """Rows of a strip of which all arrays fit in the cores' caches; None for few."""
    statistics = context.statistics(schedule.scop)
    names = {name for loop in members for name in loop.schedule}
    used = {
        access.array.name: access.array
        for name in names
        for access in statistics.statements[name].statement.accesses
    }
    trips = max(
        statistics.statements[name].trips((loop,))[0] for loop in members for name in loop.schedule
    )
    rows = int(FILLED * near * trips / sum(map(statistics.bytes, used.values())))
    return rows if FEWEST_ROWS * context.threads <= rows < trips / 2 else None


def _shares_rows(
    schedule: Schedule, first: object, second: object, context: SchedulingContext
) -> bool:
    """Whether both nests have independent rows, and walk along an array by the same step."""
    pair = [each for each in (first, second) if isinstance(each, Loop)]
    if len(pair) < 2 or not all(schedule.is_coincident(loop) for loop in pair):
        return False
    one, other = (_walked(schedule, loop, context) for loop in pair)
    return bool(one & other)


def _walked(schedule: Schedule, nest: Loop, context: SchedulingContext) -> set[tuple[str, int]]:
    """Arrays by rows of which a nest goes, with its step; none where it has long sums."""
    statistics = context.statistics(schedule.scop)
    found: set[tuple[str, int]] = set()
    for leaf, loops in leaves(nest, ()):
        statement = statistics.statements[leaf.statement]
        direction = statement.direction(loops, nest)
        trips = zip(loops, statement.trips(loops), strict=True)
        terms = prod(count for loop, count in trips if statement.rewrites(loops, loop))
        if direction is None or terms > LARGEST_WINDOW:
            return set()
        for access in statement.statement.accesses:
            step = statement.stride(access, direction, statistics)
            if step > 1:
                found.add((access.array.name, step))
    return found


def _name(loop: object) -> str:
    assert isinstance(loop, Loop)
    return f"{next(iter(loop.schedule))}.{loop.name}"
