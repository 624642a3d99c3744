"""Contiguous runs: how far an access walks through neighbouring memory before it jumps.

A stream from behind the second-level cache is fetched ahead only once it has been seen for a while:
narrow strips of wide rows are slower than whole rows, byte for byte. Streams of a few rows are seen
side by side; those of many rows are not, even where all of their lines stay in a cache.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access
from .program_statistics import StatementStatistics, bytes_of
from .scheduled_program import ScheduledProgram

GAP = 128
"""Bytes that runs may be apart and still count as one: borders that are left out."""


def contiguous_run(
    program: ScheduledProgram,
    statement: StatementStatistics,
    access: Access,
    loops: tuple[Loop, ...],
    rows: int,
    is_cached: Callable[[Loop], bool],
) -> float:
    """Bytes that an access touches one after the other, together with those of `rows` in all.

    Loops around a part that `is_cached` says to stay in a cache come in any order: their lines are
    left for the iterations that need the rest of them. Where there are more rows than pages that a
    core finds at once, nothing is fetched ahead.
    """
    statistics, size = program.statistics, bytes_of(access.array.element_type)
    run = float(size)
    row = float(size * statistics.extents(access.array)[-1]) if rows > 1 else 0.0
    apart = [(row, float(rows))]
    steps: list[tuple[Loop, float, float]] = []
    for loop, trips in zip(loops, statement.trips(loops), strict=True):
        motion = statement.motion(loops, loop)
        stride = 0 if motion is None else statement.stride(access, motion, statistics)
        # The lanes of a vector are touched at once, whatever loops there are inside.
        lanes = min(loop.vector or 1, trips)
        if lanes > 1:
            apart.append((abs(stride) * size, lanes))
        steps.append((loop, trips / lanes, abs(stride) * size * lanes))
    run = _joined(run, apart)
    for loop, trips, step in reversed(steps):
        apart.append((step, trips))
        run = _joined(run, apart)
        if not apart:
            continue
        if not is_cached(loop):
            break
        if prod(trips for _, trips in apart) > program.machine.tlb_entries:
            return max(run, float(program.machine.cache_line))
    return run


def _joined(run: float, apart: list[tuple[float, float]]) -> float:
    """The run with all steps that begin inside of it or just behind; these leave the list."""
    while joined := [each for each in apart if each[0] <= run + GAP]:
        for each in joined:
            step, trips = each
            run += step * (trips - 1)
            apart.remove(each)
    return run


def rows_together(statement: StatementStatistics, access: Access) -> int:
    """How many neighbouring rows of its array a statement reads along with an access."""
    constants = [
        other.constants
        for other in statement.statement.accesses
        if other.array.name == access.array.name and other.coefficients == access.coefficients
    ]
    if len(constants[0]) < 2:
        return 1
    rows = [each[-2] for each in constants if each[:-2] == access.constants[:-2]]
    return max(rows) - min(rows) + 1
