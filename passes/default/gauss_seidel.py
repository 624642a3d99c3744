"""Strategy: Gauss-Seidel (in-place) stencils, skewed so that rows are independent.

In a Gauss-Seidel sweep every point waits for the one before it in its row. Rows that are shifted
against each other by as many columns as their dependences reach are independent: their chains of
operations fill the units while each of them waits (Lamport, "The parallel execution of DO loops",
1974; the tiles are those of `time_tiling.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, chain, statements
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.interchange import Interchange
from ..transformations.skew import Skew
from ..transformations.unroll import Unroll
from .time_tiling import time_band, wavefronts

ROWS = 8
"""Rows side by side; also the sweeps of a tile."""

LAGS = (0, 1, 2, 3)
"""By how many more columns than a permutable band needs one row follows another."""


def gauss_seidel(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Unrolls a row loop inside of the innermost loop, whose iterations depend on each other.

    for t: for i: for j: S   ->   for tt + it: parallel it: for t: for j + 2 i: unrolled i: S
    """
    band = time_band(schedule, nest, context)
    if band is None or len(band) != 3 or len(statements(nest)) != 1:
        return None
    statement = context.statistics(schedule.scop).statements[statements(nest)[0]]
    if any(trips < 2 * ROWS for trips in statement.trips(band)):
        return None
    outer, rows, columns = (f"{statements(nest)[0]}.{loop.name}" for loop in band)
    for lag in LAGS:
        try:
            steps = [Skew((rows, columns), (lag,))] if lag else []
            skewed = schedule.apply_all(steps)
            if not _independent(skewed, chain(skewed.loop(outer))):
                continue
            members = chain(skewed.loop(outer))
            tiled = wavefronts(skewed, members, (ROWS, ROWS), context.threads)
            if tiled is not None:
                return tiled.apply(Interchange((columns, rows))).apply(Unroll((rows,)))
        except TransformationError:
            continue
    return None


def _independent(schedule: Schedule, band: Sequence[Loop]) -> bool:
    """Whether instances in the same column of different rows do not need each other."""
    legality = schedule.legality
    outer = legality.inside(frozenset(), band[0])
    return legality.is_coincident(legality.inside(outer, band[2]), band[1])
