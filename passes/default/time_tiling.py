"""Strategy: time-tiled stencils (skewed tiles in time and space).

A sweep moves all of its arrays through the caches. A skewed tile of several sweeps over a few rows
moves them once; tiles on a diagonal of the first two tile loops are independent (Wolf and Lam, "A
loop transformation theory and an algorithm to maximize parallelism", 1991; Bondhugula et al., "A
practical automatic polyhedral parallelizer and locality optimizer", PLDI 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from ..estimate.footprints import footprint
from ..estimate.program_statistics import ProgramStatistics
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.set_conflicts import largest_jam
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, chain, loops, statements
from ..polyhedral.schedule_tree import Sequence as Parts
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.parallel import Parallel
from ..transformations.tile import Tile
from ..transformations.unroll import Unroll
from ..transformations.unroll_and_jam import UnrollAndJam
from ..transformations.vectorize import Vectorize
from ..transformations.wavefront import Wavefront
from .staggered_statements import staggered_statements
from .steps import attempt

SWEEPS = (2, 4, 8, 16, 32, 64)
"""Sizes of a tile in the time loop."""

ROWS = (4, 8, 16, 32, 64)
"""Sizes of a tile in a loop around the innermost one."""

POINTS = (256, 512, 1024, 2048, 4096)
"""Sizes of a tile in the innermost loop, which should be long: it is a vector loop."""

COMPUTING = 0.2
"""Nanoseconds that a statement instance takes when its data are in the nearest caches."""

EXPOSED = 0.2
"""The part of the lesser of computing and traffic that the other does not hide."""

UNROLL = 4
"""Unrolled vectors: their neighbours are made of each other in registers."""

SHUFFLED_BITS = 32
"""Elements that are shuffled across vectors cheaply have as many bits at least."""

JAMS = (4, 2)
"""Rows side by side: each loaded vector is a neighbour of up to three rows' points. Fewer where
their lines compete for the same sets of a cache."""


def time_tiling(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Tiles a permutable band around stencils whose outermost loop carries dependences.

    for t: for i: for j: S0; S1   ->   for tt + it: parallel it: for t: for i: vector j: S0
                                                                              vector j: S1

    Or S0 and S1 in one vector loop (`staggered_statements.py`).
    """
    band = time_band(schedule, nest, context)
    if band is None:
        return None
    statistics = context.statistics(schedule.scop)
    return _staggered(schedule, band, statistics, context.threads) or _distributed(
        schedule, band, statistics, context.threads
    )


def _distributed(
    schedule: Schedule, band: Sequence[Loop], statistics: ProgramStatistics, threads: int
) -> Schedule | None:
    """Tiles in which every statement has vector loops of its own."""
    sizes = _sizes(schedule, statistics, band, threads, len(band))
    tiled = None if sizes is None else wavefronts(schedule, band, sizes, threads)
    return tiled and _vectorised(tiled, list(band[0].schedule), band, statistics)


def _staggered(
    schedule: Schedule, band: Sequence[Loop], statistics: ProgramStatistics, threads: int
) -> Schedule | None:
    """Tiles of whole rows, with the statements of a step in one vector loop.

    Only where vectors are as long as cache lines: with shorter ones, few loads of neighbours cross
    the border of a line, and registers are few.
    """
    target = schedule.target
    name, inner = next(iter(band[0].schedule)), band[-1].name
    if target.vector_bits // 8 < target.cache_line or len(band) < 3:
        return None
    sizes = _sizes(schedule, statistics, band, threads, len(band) - 1)
    width = Vectorize((f"{name}.{inner}",)).resolve(schedule).width
    assert width is not None, "it is resolved"
    if sizes is None or width * SHUFFLED_BITS > target.vector_bits:
        return None
    staggered = staggered_statements(schedule, band, statistics, width)
    tiled = staggered and wavefronts(staggered, band, sizes, threads)
    if not tiled:
        return None
    together = [list(band[0].schedule)]
    jam = largest_jam(statistics, together, band, band[1], JAMS, target)
    result = attempt(tiled, UnrollAndJam((f"{name}.{band[1].name}",), jam)) or tiled
    members = result.loop(f"{name}.{band[0].name}").schedule
    for loop in loops(result.tree):
        if loop.name == inner and members.keys() >= set(statements(loop)):
            vector = attempt(result, Vectorize((f"{statements(loop)[0]}.{inner}",), width))
            if vector is None:
                return None
            result = vector
    return result


def wavefronts(
    schedule: Schedule, band: Sequence[Loop], sizes: tuple[int, ...], threads: int
) -> Schedule | None:
    """The outermost loops of a band in tiles, those on a wavefront in parallel."""
    name = statements(band[0])[0]
    try:
        tile = Tile(tuple(f"{name}.{loop.name}" for loop in band[: len(sizes)]), sizes)
        tiles = tuple(f"{name}.{loop}" for loop in tile.resolve(schedule).new_loops(schedule)[:2])
        result = schedule.apply(tile)
        if threads > 1:
            result = result.apply(Wavefront(tiles, (1, 1))).apply(Parallel(tiles[1:]))
    except TransformationError:
        return None
    return result


def time_band(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> tuple[Loop, ...] | None:
    """The loops of a nest around nothing but statements, the outermost a time loop.

    A time loop carries dependences, and all its iterations go over the same elements.
    """
    if not isinstance(nest, Loop):
        return None
    band = chain(nest)
    body = band[-1].body
    parts = body.children if isinstance(body, Parts) else (body,)
    is_plain = all(isinstance(part, Leaf) for part in parts)
    is_marked = any(loop.is_marked for loop in band)
    if len(band) < 2 or not is_plain or is_marked:
        return None
    if schedule.is_coincident(band[0]):
        return None
    return band if _repeats(context.statistics(schedule.scop), band) else None


def _repeats(statistics: ProgramStatistics, band: Sequence[Loop]) -> bool:
    """Whether every iteration of the outermost loop goes over the same elements.

    Not so where it has a row of its own of some matrix, as in `x[j] += A[t, j]`: that is a stream.
    """
    names = list(band[0].schedule)
    changing = {
        a.array.name for name in names for a in statistics.statements[name].statement.writes
    }
    for name in names:
        statement = statistics.statements[name]
        time = [k for k, slope in enumerate(statement.slopes(band[0])) if slope]
        for access in statement.statement.accesses:
            rows = access.coefficients
            moves = any(row[k] for row in rows for k in time)
            stays = not any(slope for row in rows for k, slope in enumerate(row) if k not in time)
            if moves and (access.array.name in changing or not stays):
                return False
    return True


@dataclass(frozen=True)
class _Cost:
    """Nanoseconds per statement instance of a tiling, by cause."""

    loops: int
    sizes: tuple[int, ...]
    time: float


def _sizes(
    schedule: Schedule,
    statistics: ProgramStatistics,
    band: Sequence[Loop],
    threads: int,
    most: int,
) -> tuple[int, ...] | None:
    """The best tile sizes, for the time loop and some of the others; None if none would pay.

    `most` loops are in tiles.
    """
    trips = [
        max(statistics.statements[name].trips(band)[position] for name in band[0].schedule)
        for position in range(len(band))
    ]
    whole = tuple(max(1, round(trip)) for trip in trips)
    sweep = _bytes(schedule, statistics, band, (1, *whole[1:]))
    if whole[0] < 2 * SWEEPS[0] or sweep <= schedule.target.capacity(1):
        return None
    costs = [
        _Cost(len(sizes), sizes, _time(schedule, statistics, band, whole, sizes, threads))
        for sizes in _candidates(whole, most)
    ]
    if not costs:
        return None
    # Tiles of fewer loops have longer rows, which is worth something.
    best = min(costs, key=lambda cost: cost.time * (1 + 0.4 * cost.loops))
    return best.sizes


def _candidates(whole: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Tile sizes for the time loop and one or more of the others, outermost first."""
    for depth in range(2, most + 1):
        choices = [SWEEPS, *((ROWS,) * (len(whole) - 2)), POINTS][:depth]
        if depth == len(whole):
            choices[-1] = POINTS
        for sizes in product(*choices):
            if all(2 * size <= extent for size, extent in zip(sizes, whole, strict=False)):
                yield sizes


def _time(
    schedule: Schedule,
    statistics: ProgramStatistics,
    band: Sequence[Loop],
    whole: tuple[int, ...],
    sizes: tuple[int, ...],
    threads: int,
) -> float:
    """Nanoseconds per statement instance with tiles of these sizes."""
    target = schedule.target
    near, far = (1e9 / target.bandwidths[level] for level in (2, 3))
    extents = (*sizes, *whole[len(sizes) :])
    points = prod(extents) * len(band[0].schedule)
    held = _bytes(schedule, statistics, band, extents)
    # What a tile leaves has been written, as a rule.
    traffic = 2 * held / points * far
    one_sweep = _bytes(schedule, statistics, band, (1, *extents[1:]))
    # The next sweep goes over almost the same rows.
    if one_sweep > target.capacity(2):
        traffic += 2 * one_sweep * extents[0] / points * near
    if held * threads > target.capacity(3):
        traffic *= 2
    # Of a wavefront's tiles, no two have the same rows or the same sweeps. A thread has up to one
    # tile more than others, and those at both ends are cut.
    width = min(whole[1] / _reach(statistics, band, extents, 1), whole[0] / sizes[0])
    idle = 1 + threads / max(width, 0.5) if threads > 1 else 1
    partial = sum(
        _reach(statistics, band, extents, depth) / whole[depth]
        for depth in range(1, len(sizes))
        if depth == len(band) - 1
    )
    longer, shorter = sorted((COMPUTING * (1 + partial), traffic), reverse=True)
    starts = target.fork_join * 1e9 * threads / (points * max(width, 1)) if threads > 1 else 0
    return idle * (longer + EXPOSED * shorter) + starts


def _reach(
    statistics: ProgramStatistics, band: Sequence[Loop], extents: Sequence[int], depth: int
) -> float:
    """How many values of its iterator a tile has in one loop: time steps move it."""
    return max(_spans(statistics, name, band, extents)[1][depth] for name in band[0].schedule)


def _bytes(
    schedule: Schedule,
    statistics: ProgramStatistics,
    band: Sequence[Loop],
    extents: Sequence[int],
) -> float:
    """Bytes of the arrays that a tile with so many values of the loops touches."""
    accesses = [
        (access, spans)
        for name in band[0].schedule
        for spans in [_spans(statistics, name, band, extents)[0]]
        for access in statistics.statements[name].statement.accesses
    ]
    return sum(footprint(statistics, accesses, schedule.target.cache_line).values())


def _spans(
    statistics: ProgramStatistics, name: str, band: Sequence[Loop], extents: Sequence[int]
) -> tuple[list[float], list[float]]:
    """How many values the iterators of a statement take in a tile; the same by loop.

    A loop `2 t + i` with 16 values, inside a time loop with 8, goes over 32 values of `i`.
    """
    statement = statistics.statements[name]
    spans = [1.0] * len(statement.spans)
    by_loop: list[float] = []
    known: set[int] = set()
    for loop, extent in zip(band, extents, strict=True):
        slopes = statement.slopes(loop)
        new = [k for k, slope in enumerate(slopes) if slope and k not in known]
        moved = sum(abs(float(slopes[k])) * (spans[k] - 1) for k in known)
        reach = float(extent) + moved
        by_loop.append(reach)
        for k in new[:1]:
            spans[k] = min(reach, max(1.0, statement.spans[k]))
            known.add(k)
    return spans, by_loop


def _vectorised(
    schedule: Schedule,
    names: Sequence[str],
    band: Sequence[Loop],
    statistics: ProgramStatistics,
) -> Schedule | None:
    """Every statement in vector loops of its own, where that is legal.

    Rows of the outermost loop of space run side by side where they are independent; they are so
    many copies that vectors are not unrolled as well.
    """
    innermost = band[-1].name
    if len(names) > 1:
        distributed = attempt(schedule, Distribute((f"{names[0]}.{innermost}",)))
        if distributed is None:
            return None
        schedule = distributed
    rows = f"{names[0]}.{band[1].name}"
    jam = largest_jam(statistics, [(name,) for name in names], band, band[1], JAMS, schedule.target)
    jammed = attempt(schedule, UnrollAndJam((rows,), jam)) if len(band) > 2 else None
    schedule = jammed or schedule
    is_vector = False
    for name in names:
        loop = f"{name}.{innermost}"
        vector = attempt(schedule, Vectorize((loop,)))
        if vector is not None:
            unrolled = None if jammed else attempt(vector, Unroll((loop,), UNROLL))
            schedule = unrolled or vector
            is_vector = True
    return schedule if is_vector else None
