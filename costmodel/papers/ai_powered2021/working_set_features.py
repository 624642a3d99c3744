"""What a schedule's working sets ask of each level of the memory hierarchy, as numbers.

Each reuse can take place in the fastest cache that holds its working set, or from memory; the bytes
of all working sets of a level are added up. Source: Tavarageri et al., "AI Powered Compiler
Techniques for DL Code Optimization", 2021, section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

import numpy as np
from numpy.typing import NDArray

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.schedules.schedule import Schedule
from ...features.extract import placed_rows
from ...features.loop_context import Placement
from ...features.row_columns import NAMES, SLICES
from ...features.sections import Estimate
from .page_counts import PAGES, page_misses
from .working_sets import Reuse, WorkingSet, working_sets

Row = NDArray[np.float32]

VERSION = 3
"""Increases when a number changes its meaning or place."""

LEVELS = (1, 2, 3)
"""The levels of caches; behind the last one is the memory."""

PUBLISHED = tuple(f"bytes_{level}" for level in (*LEVELS, "memory"))
"""The features of the paper: sums of all working sets, nearest and farthest, as logarithms."""

SPLIT = tuple(
    f"{end}_{what}_{level}"
    for end in ("nearest", "farthest")
    for what in ("bytes", "reuses")
    for level in (*LEVELS, "memory")
)
"""The same for nearest and farthest targets apart, and how many reuses each level has."""

ESTIMATES = tuple(f"estimate_{name}" for name in Estimate._fields)
"""Parts of the estimate of `features.estimate`, summed over statements, as logarithms."""

PLACES = ("jumps", "lines_memory", *(f"pages_{page >> 10}k" for page in PAGES))
"""Lines that do not follow the last one, and pages that are come to again, as logarithms."""

_INSTANCES = NAMES.index("work.instances")
_JUMPS, _LINES = NAMES.index("memory.jumps"), NAMES.index("memory.lines_3")
_SECONDS = Estimate._fields.index("seconds")
_LEAST = 1e-12


def per_level(
    found: Iterable[WorkingSet], caches: Mapping[int, int]
) -> tuple[tuple[int, int], ...]:
    """Bytes of the working sets of each level of `LEVELS` and of memory, and how many these are.

    A working set is in the fastest cache (bytes by level) that holds it.
    """
    places = {level: number for number, level in enumerate(LEVELS)}
    totals = [[0, 0] for _ in (*LEVELS, "memory")]
    for each in found:
        level = next((lv for lv in LEVELS if each.bytes <= caches.get(lv, 0)), None)
        total = totals[len(LEVELS) if level is None else places[level]]
        total[0] += each.bytes
        total[1] += 1
    return tuple((size, count) for size, count in totals)


def published(reuses: Sequence[Reuse], caches: Mapping[int, int]) -> list[float]:
    """The numbers of `PUBLISHED`."""
    ends = (end for reuse in reuses for end in (reuse.nearest, reuse.farthest))
    return [log2(1 + size) for size, _ in per_level(ends, caches)]


def split(reuses: Sequence[Reuse], caches: Mapping[int, int]) -> list[float]:
    """The numbers of `SPLIT`."""
    result: list[float] = []
    for ends in ([r.nearest for r in reuses], [r.farthest for r in reuses]):
        levels = per_level(ends, caches)
        result += [log2(1 + size) for size, _ in levels]
        result += [float(count) for _, count in levels]
    return result


def estimates(rows: Row) -> list[float]:
    """The numbers of `ESTIMATES`, from the rows of a schedule."""
    exact = rows.astype(np.float64)
    parts = exact[:, SLICES["estimate"]]
    weights = np.repeat(exact[:, _INSTANCES, None], parts.shape[1], axis=1)
    weights[:, _SECONDS] = 1.0
    return np.log2(_LEAST + (parts * weights).sum(axis=0)).tolist()


def places(placed: Sequence[Placement], rows: Row) -> list[float]:
    """The numbers of `PLACES`, from the statements of a schedule and their rows."""
    totals = np.zeros(len(PLACES))
    for place, row in zip(placed, rows, strict=True):
        lines = (row[_JUMPS] * place.profile.instances, row[_LINES] * place.profile.instances)
        totals += (*lines, *page_misses(place))
    return np.log2(1.0 + totals).tolist()


def reuses_of(schedule: Schedule, context: SchedulingContext) -> tuple[Reuse, ...]:
    """The reuses of a schedule; what is no box counts as the box around it."""
    return working_sets(schedule.scop, schedule.tree, context.sizes, hull=True)


def row_of(schedule: Schedule, context: SchedulingContext, *, whole: bool) -> Row:
    """The features of a schedule: `PUBLISHED`; with `whole`, all others after these.

    Raises TooComplexError.
    """
    reuses, caches = reuses_of(schedule, context), schedule.target.caches
    row = published(reuses, caches)
    if whole:
        placed, rows = placed_rows(schedule, context)
        row += [*split(reuses, caches), *estimates(rows), *places(placed, rows)]
    return np.array(row, np.float32)
