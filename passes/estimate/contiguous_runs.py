"""Contiguous runs: how far an access walks through neighbouring memory before it jumps.

A stream from behind the second-level cache is fetched ahead only once it has been seen for a while:
narrow strips of wide rows are slower than whole rows, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable

from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access
from .program_statistics import ProgramStatistics, StatementStatistics, bytes_of


def contiguous_run(
    access: Access,
    statement: StatementStatistics,
    loops: tuple[Loop, ...],
    statistics: ProgramStatistics,
    is_cached: Callable[[Loop], bool],
) -> float:
    """Bytes that an access touches one after the other.

    Loops around a part that `is_cached` says to stay in a cache come in any order: their lines are
    left for the iterations that need the rest of them.
    """
    size = bytes_of(access.array.element_type)
    run = float(size)
    apart: list[tuple[float, float]] = []
    for loop, trips in zip(reversed(loops), reversed(statement.trips(loops)), strict=True):
        direction = statement.direction(loops, loop)
        stride = 0 if direction is None else statement.stride(access, direction, statistics)
        apart.append((abs(stride) * size, trips))
        run = _joined(run, apart)
        if apart and not is_cached(loop):
            break
    return run


def _joined(run: float, apart: list[tuple[float, float]]) -> float:
    """The run with all steps that begin inside of it or at its end; these leave the list."""
    while joined := [each for each in apart if each[0] <= run]:
        for each in joined:
            step, trips = each
            run += step * (trips - 1)
            apart.remove(each)
    return run
