"""Register-tiling space of a given schedule: other sizes of its register tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.isl_context import ISL_LOCK
from ....passes.polyhedral.schedule_tree import Loop, loops, loops_around, statements
from ....passes.schedules.errors import TransformationError
from ....passes.schedules.schedule import Schedule, Transformation
from ....passes.transformations.tile import Tile
from ....passes.transformations.unroll import Unroll
from .register_bands import ROWS, UNROLLED, VECTORS, Band, State, make_band


class RegisterSteps:
    """The band of the last fully unrolled two-loop tile with vectors, if there is one.

    All other steps of the schedule stay as they are. The interface is that of `RegisterSpace`.
    """

    def __init__(self, original: Schedule, schedule: Schedule, context: SchedulingContext) -> None:
        self._original = original
        self._steps = schedule.transformations
        self.default = schedule
        with ISL_LOCK:
            found = _fully_unrolled(schedule)
            self._place = None if found is None else _tile_of(original, self._steps, found)
            self.bands = (
                () if found is None or self._place is None else (self._band(found, context),)
            )

    def schedule(self, states: Mapping[Band, State]) -> Schedule | None:
        """The schedule with other factors; None where that is not legal."""
        state = next(iter(states.values()), None)
        if state is None or self._place is None:
            return self.default
        number, rows_first = self._place
        step = self._steps[number]
        assert isinstance(step, Tile)
        rows, vectors = state[0], state[1] * self._width
        sizes = (rows, vectors) if rows_first else (vectors, rows)
        steps = list(self._steps)
        steps[number] = replace(step, sizes=sizes)
        with ISL_LOCK:
            try:
                result = self._original.apply_all(steps)
                return result if state[2] == 1 else result.apply(Unroll((self._terms,), state[2]))
            except TransformationError:
                return None

    def _band(self, found: tuple[Loop, Loop], context: SchedulingContext) -> Band:
        rows, vector = found
        (statement,) = statements(vector)
        around = loops_around(self.default.tree, statement)
        trips = context.statistics(self.default.scop).statements[statement].trips(around)
        terms = [
            (loop, trip)
            for loop, trip in zip(around, trips, strict=True)
            if loop.unroll is None and loop.vector is None
        ]
        self._width = vector.vector or 1
        self._terms = f"{statement}.{terms[-1][0].name}"
        assert rows.within is not None and vector.within is not None, "they are tiles' points"
        start = (rows.within.size, vector.within.size // self._width, 1)
        names = (rows.name, vector.name, terms[-1][0].name)
        extents = (max(ROWS), max(VECTORS), round(terms[-1][1]))
        ladders = (ROWS, VECTORS, UNROLLED)
        registers = self.default.target.vector_registers
        return make_band(statement, names, extents, ladders, start, registers, 2)


def _fully_unrolled(schedule: Schedule) -> tuple[Loop, Loop] | None:
    """The rows and vectors of the last register tile around a statement of the program."""
    own = {each.name for each in schedule.program.statements}
    found: tuple[Loop, Loop] | None = None
    for loop in loops(schedule.tree):
        inner = loop.body
        if (
            isinstance(inner, Loop)
            and inner.vector is not None
            and loop.unroll == inner.unroll == 0
            and loop.within is not None
            and inner.within is not None
            and inner.within.size % inner.vector == 0
            and own.issuperset(statements(inner))
            and len(statements(inner)) == 1
            and any(x.unroll is None for x in schedule.outer(loop))
        ):
            found = loop, inner
    return found


def _tile_of(
    original: Schedule, steps: Sequence[Transformation], found: tuple[Loop, Loop]
) -> tuple[int, bool] | None:
    """Which step makes the tile of two loops, and whether it names the first one first."""
    tiles = [loop.within.tile for loop in found if loop.within is not None]
    schedule, place = original, None
    for number, step in enumerate(steps):
        if isinstance(step, Tile):
            new = list(step.new_loops(schedule))
            if sorted(new) == sorted(tiles):
                place = number, new == tiles
        schedule = schedule.apply(step)
    return place
