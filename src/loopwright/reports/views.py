"""Views of a plane: which colour each instance has, by order, tile or parallel step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..passes.polyhedral.schedule_tree import Loop, loops_around
from ..passes.schedules.schedule import Schedule
from .colours import category, position
from .planes import Grid, Plane, counts_tiles, groups, loop_values, order

_LONGEST_TRACE = 144
"""Instances through which a line shows the order, where there are no more."""


@dataclass(frozen=True, eq=False)
class View:
    """Groups of instances, numbered in their order, with the colour of each.

    `borders` says whether groups have a line around them, `trace` is the order of instances where
    a line is to show it. `legend` are colours with what they mean.
    """

    name: str
    explanation: str
    groups: Grid
    colour: Callable[[int], str]
    borders: bool
    trace: Grid | None
    legend: tuple[tuple[str, str], ...]


def views(schedule: Schedule, original: Schedule, plane: Plane) -> Iterator[View]:
    """What can be seen of a statement of a schedule in a plane, the most telling first."""
    name = plane.statement.name
    around = loops_around(schedule.tree, name)
    values = loop_values(schedule.scop, schedule.tree, plane)
    grids = list(values.values())
    for title, numbers in _tile_levels(schedule, name):
        counts = [grids[number] for number in numbers]
        found = groups(counts, plane.present)
        if found.max() > 0:
            loops = ", ".join(around[number].name for number in numbers)
            explanation = f"Each colour is one iteration of {loops}."
            yield View(title, explanation, _spread(counts, plane, found), category, True, None, ())
    parallel = next((n for n, loop in enumerate(around) if loop.parallel), None)
    if parallel is not None and groups(grids[: parallel + 1], plane.present).max() > 0:
        yield _parallel_view(around, grids, parallel, plane)
    yield _order_view("order", "as scheduled", order(values, plane.present))
    if name in {statement.name for statement in original.scop.statements}:
        written = loop_values(original.scop, original.tree, plane)
        yield _order_view("as written", "as written", order(written, plane.present))


def _tile_levels(schedule: Schedule, statement: str) -> Iterator[tuple[str, list[int]]]:
    """Titles, and positions of the loops that count tiles: down to the outermost level, and all."""
    around = loops_around(schedule.tree, statement)
    counting = [counts_tiles(schedule.scop, loop, statement) for loop in around]
    if not any(counting):
        return
    last = max(number for number, counts in enumerate(counting) if counts) + 1
    # A level ends where the loops of the next one are inside of its tiles, or count no tiles.
    first = min(
        next(n for n in range(counting.index(True), last + 1) if n == last or not counting[n]),
        *(number for number, loop in enumerate(around[:last]) if loop.within is not None),
        last,
    )
    levels = {"tiles": last} if first == last else {"outer tiles": first, "inner tiles": last}
    for title, depth in levels.items():
        yield title, [number for number in range(depth) if counting[number]]


def _spread(grids: list[Grid], plane: Plane, found: Grid) -> Grid:
    """Numbers of groups such that neighbours differ in colour: one step, or three, on a side."""
    varying = [grid for grid in grids if len(set(grid[plane.present].tolist())) > 1]
    if not varying:
        return found
    spread = sum((2 * n + 1) * (grid - grid.min()) for n, grid in enumerate(varying))
    # Groups keep their numbers in the multiples of seven, the number of colours.
    result = found * 7 + spread % 7
    result[~plane.present] = -1
    return result


def _parallel_view(
    around: tuple[Loop, ...], grids: list[Grid], parallel: int, plane: Plane
) -> View:
    steps = groups(grids[:parallel], plane.present)
    count = int(steps.max()) + 1
    loop = around[parallel].name
    if count > 1:
        sequential = ", ".join(each.name for each in around[:parallel])
        explanation = (
            f"Instances of one colour are one step of {sequential}: the iterations of {loop} in it "
            "run in parallel."
        )
        colours = ((position(0, count), "first step"), (position(count - 1, count), "last step"))
        return View(
            "parallel steps",
            explanation,
            steps,
            lambda n: position(n, count),
            True,
            None,
            colours,
        )
    iterations = groups(grids[: parallel + 1], plane.present)
    explanation = f"Each colour is one iteration of the parallel loop {loop}."
    return View("parallel", explanation, iterations, category, True, None, ())


def _order_view(name: str, how: str, rank: Grid) -> View:
    count = int(rank.max()) + 1
    colours = ((position(0, count), "first"), (position(count - 1, count), "last"))
    is_traced = 1 < count <= _LONGEST_TRACE
    line = " The line leads from each to the next." if is_traced else ""
    return View(
        name,
        f"The order of the instances {how}, from dark to light.{line}",
        rank,
        lambda n: position(n, count),
        False,
        rank if is_traced else None,
        colours,
    )


def trace(rank: Grid) -> list[tuple[int, int]]:
    """The cells, as row and column, of the instances in their order."""
    cells = {
        int(rank[row, column]): (row, column)
        for row in range(rank.shape[0])
        for column in range(rank.shape[1])
        if rank[row, column] >= 0
    }
    return [cells[number] for number in sorted(cells)]
