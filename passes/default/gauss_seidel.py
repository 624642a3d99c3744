"""Strategy: Gauss-Seidel (in-place) stencils, skewed so that rows are independent.

In a Gauss-Seidel sweep every point waits for the one before it in its row. Rows that are shifted
against each other by as many columns as their dependences reach are independent: their chains of
operations fill the units while each of them waits (Lamport, "The parallel execution of DO loops",
1974; the tiles are those of `time_tiling.py`). Long rows are the lanes of vectors.
"""

from __future__ import annotations

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Tree, chain, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.interchange import Interchange
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .skewed_rows import LAGS, row_lanes, skewed_by
from .time_tiling import time_band, wavefronts

ROWS = 8
"""Rows side by side where they are short; also the sweeps of a tile."""


def gauss_seidel(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Puts a row loop inside of the innermost loop, whose iterations depend on each other.

    for t: for i: for j: S   ->   for tt + it: parallel it: for t: for j + 2 i: vector i: S

    Where rows are short, it is unrolled.
    """
    band = time_band(schedule, nest, context)
    if band is None or len(band) != 3 or len(statements(nest)) != 1:
        return None
    statement = context.statistics(schedule.scop).statements[statements(nest)[0]]
    if any(trips < 2 * ROWS for trips in statement.trips(band)):
        return None
    name = statements(nest)[0]
    rows, columns = (f"{name}.{loop.name}" for loop in band[1:])
    for lag in LAGS:
        skewed = skewed_by(schedule, name, band, lag)
        if skewed is None:
            continue
        width = row_lanes(skewed, context, name, band[0])
        members = chain(skewed.loop(f"{name}.{band[0].name}"))
        tiled = wavefronts(skewed, members, (ROWS, width or ROWS), context.threads)
        steps = [Vectorize((rows,), width)] if width else []
        try:
            if tiled is not None:
                return tiled.apply_all((Interchange((columns, rows)), *steps, Unroll((rows,))))
        except TransformationError:
            continue
    return None
