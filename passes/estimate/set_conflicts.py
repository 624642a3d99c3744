"""Cache-set conflicts: lines of rows that lie a large power of two apart compete for few sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from math import inf

from ..machine.machine import Machine
from ..polyhedral.schedule_tree import Loop, Tree, leaves
from ..polyhedral.scop import Access
from .program_statistics import ProgramStatistics, Slope, bytes_of, subscript_steps

LINES_AT_ONCE = 3
"""Lines of a row in use: those that a vector lies across, and the one that is fetched ahead."""


def ways(machine: Machine) -> float:
    """Lines of the same set that the first-level cache holds; no limit where that is not known."""
    period = machine.set_periods.get(1)
    return machine.caches.get(1, 0) // period if period else inf


def rows_without_conflicts(machine: Machine, pitch: int, level: int = 1) -> float:
    """So many rows, a pitch of bytes apart, have the lines of one column in a cache together."""
    period = machine.set_periods.get(level)
    if not period or not pitch:
        return inf
    return _rows_together(pitch, period, machine.caches[level], machine.cache_line)


@cache
def _rows_together(pitch: int, period: int, size: int, line: int) -> int:
    if pitch < line:
        return size // pitch
    found: Counter[int] = Counter()
    most = size // line
    for row in range(most):
        place = row * pitch % period // line
        found[place] += 1
        if found[place] > size // period:
            return row
    return most


def evicts_columns(
    statistics: ProgramStatistics, vector: Loop, nest: Tree, machine: Machine
) -> bool:
    """Whether loops inside of a vector loop go down more rows than the second-level cache holds.

    Next to none of these lines is there when the neighbouring columns, or the next loop inside,
    need them.
    """
    for leaf, outer in leaves(nest):
        if vector not in outer:
            continue
        statement = statistics.statements[leaf.statement]
        across = statement.direction(outer, vector)
        trips = statement.trips(outer)
        for depth in range(outer.index(vector) + 1, len(outer)):
            along = statement.direction(outer, outer[depth])
            if across is None or along is None:
                continue
            for access in statement.statement.accesses:
                pitch = abs(statement.stride(access, along, statistics))
                pitch *= bytes_of(access.array.element_type)
                if abs(statement.stride(access, across, statistics)) == 1 and (
                    trips[depth] > rows_without_conflicts(machine, pitch, 2)
                ):
                    return True
    return False


def lines_of_a_set(
    statistics: ProgramStatistics,
    accesses: Iterable[tuple[Access, Sequence[Slope]]],
    copies: int,
    machine: Machine,
) -> int:
    """Lines that an innermost loop goes along at once, and that compete for the same set.

    With each access comes the direction of the iterators in which so many copies of it follow each
    other. Arrays are taken to begin at the same distance from where sets repeat, as large ones do.
    """
    period = machine.set_periods.get(1)
    if not period:
        return 0
    rows: set[tuple[str, int]] = set()
    for access, direction in accesses:
        if len(access.array.shape) < 2:
            continue
        size = bytes_of(access.array.element_type)
        pitches = statistics.pitches(access.array)
        last = statistics.order(access.array)[-1]
        places = list(zip(access.constants, subscript_steps(access, direction), strict=True))
        for copy in range(copies):
            offset = sum(
                int(first + copy * step) * pitches[k] * size
                for k, (first, step) in enumerate(places)
                if k != last
            )
            rows.add((access.array.name, offset))
    near = LINES_AT_ONCE * machine.cache_line
    places = sorted(offset % period for _, offset in rows)
    ahead = [*places, *(place + period for place in places)]
    return max(
        (sum(place <= other < place + near for other in ahead) for place in places),
        default=0,
    )


def largest_jam(
    statistics: ProgramStatistics,
    together: Iterable[Sequence[str]],
    band: Sequence[Loop],
    loop: Loop,
    factors: Sequence[int],
    machine: Machine,
) -> int:
    """The first of the factors with which jammed iterations of a loop have all lines in the cache.

    Statements that are `together` share an innermost loop. The last factor where none fits.
    """
    known = [
        [
            (access, direction)
            for name in names
            for direction in [statistics.statements[name].direction(band, loop)]
            if direction is not None
            for access in statistics.statements[name].statement.accesses
        ]
        for names in together
    ]
    for factor in factors:
        if all(
            lines_of_a_set(statistics, accesses, factor, machine) <= ways(machine)
            for accesses in known
        ):
            return factor
    return factors[-1]
