"""Strategy: wavefronts of tiles for two loops that both carry dependences."""

from __future__ import annotations

from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, chain, loops_around
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.parallel import Parallel
from ..transformations.tile import Tile
from ..transformations.wavefront import Wavefront

SIZE = 32
"""Iterations of each loop in a tile."""


def wavefronts(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Tiles the two outermost loops; threads take the tiles of a diagonal.

    for i:                              for diagonal:
      for j:                              parallel for tile on the diagonal:
        A[i, j] = f(A[i - 1, j],    ->      for i, j in tile:
                    A[i, j - 1])              A[i, j] = f(A[i - 1, j], A[i, j - 1])
    """
    if context.threads < 2 or not isinstance(nest, Loop):
        return None
    band = chain(nest)[:2]
    if len(band) < 2 or any(map(schedule.is_coincident, band)):
        return None
    statistics = context.statistics(schedule.scop)
    statement = statistics.statements[next(iter(nest.schedule))]
    diagonals = sum(statement.trips(band)) / SIZE
    work = sum(statistics.statements[name].instances for name in nest.schedule)
    if min(statement.trips(band)) < SIZE * context.threads or work < LEAST_INSTANCES * diagonals:
        return None
    name = statement.statement.name
    try:
        tiled = schedule.apply(Tile(tuple(f"{name}.{loop.name}" for loop in band), (SIZE, SIZE)))
        tiles = tuple(f"{name}.{loop.name}" for loop in loops_around(tiled.tree, name)[:2])
        return tiled.apply_all((Wavefront(tiles, (1, 1)), Parallel(tiles[1:])))
    except TransformationError:
        return None
