"""Scatter-form reductions: sums whose result subscripts mix two iterators, as `2 * y + k`.

A transposed convolution, a full one-dimensional convolution or an overlap-add goes through its
input and adds to the elements that each value contributes to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..estimate.program_statistics import StatementStatistics
from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access
from ..schedules.schedule import Schedule
from .size_sums import SizeSum, size_sum


@dataclass(frozen=True)
class Mixed:
    """A result subscript `stride * source + tap`, with the extents of both loops.

    `source_range` and `tap_range` are their first and last values.
    """

    source: str
    tap: str
    stride: int
    source_range: tuple[SizeSum, SizeSum]
    tap_range: tuple[SizeSum, SizeSum]
    taps: int
    sources: int

    @property
    def overlaps(self) -> int:
        """How many values of the source loop contribute to one element."""
        return -(-self.taps // self.stride)


@dataclass(frozen=True)
class ScatterForm:
    """An accumulation in scatter form, and the roles of its loops (by name, outermost first).

    `mixed` are the result's mixed subscripts; `plain` loops stand alone in the others, and `terms`
    in none.
    """

    statement: str
    order: tuple[str, ...]
    extents: Mapping[str, int]
    iterators: Mapping[str, int]
    mixed: tuple[Mixed, ...]
    plain: tuple[str, ...]
    terms: tuple[str, ...]
    result: Access
    reads: tuple[Access, ...]

    @property
    def depth(self) -> int:
        """How many terms the sum of an inner element has."""
        own = (each.overlaps for each in self.mixed)
        return prod((*own, *(self.extents[name] for name in self.terms)))

    def selects(self, loop: str, access: Access) -> bool:
        """Whether an access depends on a loop."""
        return any(row[self.iterators[loop]] for row in access.coefficients)


def recognise_scatter(
    schedule: Schedule,
    name: str,
    around: Sequence[Loop],
    statement: StatementStatistics,
) -> ScatterForm | None:
    """The scatter form that a statement has in the loops around it, if it has one."""
    accumulation = schedule.dependences.accumulations.get(name)
    if accumulation is None or len(around) != len(statement.statement.loops):
        return None
    result = accumulation.store
    mixing = [row for row in result.coefficients if sum(map(bool, row)) > 1]
    if not mixing or not statement.points.is_box():
        return None
    iterators: dict[str, int] = {}
    for loop in around:
        iterator = statement.iterator_of(loop)
        if iterator is None:
            return None
        iterators[loop.name] = iterator
    if sorted(iterators.values()) != list(range(len(around))):
        return None
    trips = statement.trips(tuple(around))
    extents = {loop.name: round(n) for loop, n in zip(around, trips, strict=True)}
    found: list[Mixed] = []
    plain: list[str] = []
    for row in result.coefficients:
        used = [each for each in iterators if row[iterators[each]]]
        if len(used) == 1:
            plain += used
        elif used:
            mixed = _mixed(statement, used, row, iterators, extents)
            if mixed is None:
                return None
            found.append(mixed)
    selecting = [*plain, *(loop for each in found for loop in (each.source, each.tap))]
    if len(set(selecting)) != len(selecting):
        return None
    return ScatterForm(
        name,
        tuple(iterators),
        extents,
        iterators,
        tuple(found),
        tuple(each for each in iterators if each in plain),
        tuple(each for each in iterators if each not in selecting),
        result,
        tuple(a for a in statement.statement.reads if a is not accumulation.load),
    )


def _mixed(
    statement: StatementStatistics,
    used: Sequence[str],
    row: Sequence[int],
    iterators: Mapping[str, int],
    extents: Mapping[str, int],
) -> Mixed | None:
    """The roles of two loops in a subscript: the tap has no factor, and the smaller extent."""
    if len(used) != 2:
        return None
    factors = {each: row[iterators[each]] for each in used}
    tap, source = sorted(used, key=lambda each: (factors[each], extents[each]))
    if factors[tap] != 1:
        return None
    ranges = [_range(statement, iterators[each]) for each in (source, tap)]
    if ranges[0] is None or ranges[1] is None:
        return None
    return Mixed(source, tap, factors[source], ranges[0], ranges[1], extents[tap], extents[source])


def _range(statement: StatementStatistics, position: int) -> tuple[SizeSum, SizeSum] | None:
    """The first and the last value of an iterator; None where they are no sums of sizes."""
    domain = statement.statement.domain
    first, last = size_sum(domain.dim_min(position)), size_sum(domain.dim_max(position))
    return None if first is None or last is None else (first, last)
