"""Strategy: two-dimensional recurrences, skewed so that rows are the lanes of vectors.

Where each element needs the one before it in its row and some of the row above, as in alignments of
sequences (Smith-Waterman, edit distances), summed-area tables and sweeps in place, rows that follow
each other by some columns are independent (Lamport, "The parallel execution of DO loops", 1974).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from ..estimate.estimate import estimate
from ..estimate.parallel_profitability import LEAST_CYCLES
from ..estimate.program_statistics import bytes_of, subscript_steps
from ..estimate.recurrence_bound import recurrence
from ..estimate.rows_in_lanes import neighbours
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.set_conflicts import rows_without_conflicts
from ..estimate.strided_accesses import BLOCK_ROWS, LEAST_BLOCK_BITS
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, chain, statements
from ..polyhedral.scop import Statement
from ..schedules.active_pairs import Outer
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.interchange import Interchange
from ..transformations.skew import Skew
from ..transformations.strip_mine import StripMine
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .steps import attempt
from .time_tiling import wavefronts

LAGS = (0, 1, 2, 3)
"""By how many more columns than a permutable band needs one row follows another."""

LONG_WAIT = 16
"""Cycles from one element of a row to the next from which on four vectors run side by side,
where no other matrix needs registers."""

TRIANGLES = 8
"""Columns, in terms of those that the last lane is behind the first: at both ends of rows, only
some lanes have work."""

COLUMNS = 256
"""Columns of the smallest tile."""

GAIN = 0.75
"""Threads take so much of the time at most: large tables are limited by memory.

Measured on a Granite Rapids: 6000 rows of 32-bit integers take twice as long on two threads."""

TILES = 8
"""Tiles for each thread, along rows as well as columns: the first and last wavefronts are short."""


def skewed_rows(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Strips of rows in vectors, with tiles of a wavefront in parallel.

    for i:                              for diagonal: parallel for tiles: for strips of 16 rows:
      for j:                              for j + i:
        A[i, j] = f(A[i - 1, j],    ->      vector i:
                    A[i, j - 1])              A[i, j] = f(A[i - 1, j], A[i, j - 1])
    """
    if not isinstance(nest, Loop):
        return None
    band = chain(nest)
    is_marked = any(loop.is_marked for loop in band)
    if len(band) != 2 or not isinstance(band[1].body, Leaf) or is_marked:
        return None
    if any(map(schedule.is_coincident, band)):
        return None
    name = statements(nest)[0]
    for lag in LAGS:
        skewed = skewed_by(schedule, name, band, lag)
        width = skewed and row_lanes(skewed, context, name, band[0])
        result = skewed and width and _in_vectors(skewed, context, name, band, width)
        if result:
            return result
    return None


def skewed_by(schedule: Schedule, name: str, band: Sequence[Loop], lag: int) -> Schedule | None:
    """Each row of the last two loops `lag` columns more behind; None where they depend on it."""
    loops = (f"{name}.{loop.name}" for loop in band[-2:])
    skewed = attempt(schedule, Skew(tuple(loops), (lag,))) if lag else schedule
    if skewed is None:
        return None
    *outer, rows, columns = chain(skewed.loop(f"{name}.{band[0].name}"))
    legality = skewed.legality
    fixed: Outer = frozenset()
    for loop in (*outer, columns):
        fixed = legality.inside(fixed, loop)
    return skewed if legality.is_coincident(fixed, rows) else None


def row_lanes(
    schedule: Schedule, context: SchedulingContext, name: str, outermost: Loop
) -> int | None:
    """The rows that run in lanes; None where they are better single.

    The last two loops of the band are those over rows and over columns.
    """
    statistics = context.statistics(schedule.scop)
    statement = statistics.statements[name]
    band = chain(schedule.loop(f"{name}.{outermost.name}"))
    down, along = (statement.direction(band, loop) for loop in band[-2:])
    found = (
        None if down is None or along is None else neighbours(statistics, statement, down, along)
    )
    if down is None or found is None:
        return None
    (write,) = statement.statement.writes
    bits = 8 * bytes_of(write.array.element_type)
    block = min(BLOCK_ROWS[-1], max(LEAST_BLOCK_BITS, schedule.target.vector_bits) // bits)
    if any(abs(each.lag) > block for each in found.values()):
        return None
    behind = abs(subscript_steps(write, down)[-1])
    *_, rows, columns = statement.trips(band)
    pitch = abs(statement.stride(write, down, statistics)) * bits // 8
    fitting = rows_without_conflicts(schedule.target, pitch)
    for blocks in _blocks(schedule, statement.statement, block * bits, band[-1]):
        width = block * blocks
        while width > fitting and width * bits > LEAST_BLOCK_BITS:
            width //= 2
        if rows >= 2 * context.threads * width and columns >= TRIANGLES * behind * width:
            return width
    return None


def _blocks(schedule: Schedule, statement: Statement, bits: int, columns: Loop) -> Sequence[int]:
    """How many blocks run side by side, so that one computes while another waits; best first."""
    if bits < schedule.target.vector_bits:
        return (1,)
    matrices = {a.array.name for a in statement.accesses if len(a.array.shape) > 1}
    is_slow = recurrence(schedule, [statement.name], columns) >= LONG_WAIT
    return (4, 2) if is_slow and len(matrices) == 1 else (2,)


def _in_vectors(
    schedule: Schedule, context: SchedulingContext, name: str, band: Sequence[Loop], width: int
) -> Schedule | None:
    """Strips of rows, inside of square tiles where threads are worth it."""
    statement = context.statistics(schedule.scop).statements[name]
    members = chain(schedule.loop(f"{name}.{band[0].name}"))
    rows, columns = (f"{name}.{loop.name}" for loop in members)
    strips = (
        StripMine((rows,), width),
        Interchange((columns, rows)),
        Vectorize((rows,), width),
        Unroll((rows,)),
    )
    counts = statement.trips(members)
    tiles = TILES * context.threads
    sizes = width * ceil(counts[0] / (tiles * width)), max(COLUMNS, ceil(counts[1] / tiles))
    diagonals = sum(count / size for count, size in zip(counts, sizes, strict=True))
    try:
        alone = schedule.apply_all(strips)
    except TransformationError:
        return None
    try:
        if context.threads > 1 and statement.instances >= LEAST_CYCLES * diagonals:
            tiled = wavefronts(schedule, members, sizes, context.threads)
            shared = tiled and tiled.apply_all(strips)
            if shared and estimate(shared, context) < GAIN * estimate(alone, context):
                return shared
    except TransformationError:
        return alone
    return alone
