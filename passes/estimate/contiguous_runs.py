"""Contiguous runs: how far an access walks through neighbouring memory before it jumps.

A stream from behind the second-level cache is fetched ahead only once it has been seen for a while:
narrow strips of wide rows are slower than whole rows, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable

from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access
from .program_statistics import ProgramStatistics, StatementStatistics, bytes_of

GAP = 128
"""Bytes that runs may be apart and still count as one: borders that are left out."""


def contiguous_run(
    access: Access,
    statement: StatementStatistics,
    loops: tuple[Loop, ...],
    statistics: ProgramStatistics,
    rows: int,
    is_cached: Callable[[Loop], bool],
) -> float:
    """Bytes that an access touches one after the other, together with those of `rows` in all.

    Loops around a part that `is_cached` says to stay in a cache come in any order: their lines are
    left for the iterations that need the rest of them.
    """
    size = bytes_of(access.array.element_type)
    run = float(size)
    row = float(size * statistics.extents(access.array)[-1]) if rows > 1 else 0.0
    apart = [(row, float(rows))]
    for loop, trips in zip(reversed(loops), reversed(statement.trips(loops)), strict=True):
        motion = statement.motion(loops, loop)
        stride = 0 if motion is None else statement.stride(access, motion, statistics)
        apart.append((abs(stride) * size, trips))
        run = _joined(run, apart)
        if apart and not is_cached(loop):
            break
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
