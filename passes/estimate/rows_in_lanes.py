"""In-place statements of which a vector has a row in each lane: where in it lies what they read.

Lane `l` of step `s` writes the element `base + pitch * l + s`, or `- s` in sweeps to the left. What
a read is away from that is a number of rows, which are lanes, and a lag, in steps
(`lowering.memory.diagonal_vectors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..polyhedral.scop import Access
from .program_statistics import ProgramStatistics, Slope, StatementStatistics

SHORTEST_PITCH = 256
"""Elements between lanes from which on two of them never meet nearby."""


@dataclass(frozen=True)
class Neighbour:
    """What a step writes `lag` steps later (or -`lag` earlier), `rows` lanes below."""

    rows: int
    lag: int

    @property
    def is_new(self) -> bool:
        """Whether an earlier step has written it."""
        return self.lag < 0


def neighbours(
    statistics: ProgramStatistics,
    statement: StatementStatistics,
    down: Sequence[Slope],
    along: Sequence[Slope],
) -> Mapping[Access, Neighbour] | None:
    """What the statement reads of the array that it writes; None where that is of another kind.

    `down` and `along` are the directions of the lanes and of the steps.
    """
    writes = statement.statement.writes
    if len(writes) != 1:
        return None
    (write,) = writes
    pitch = statement.stride(write, down, statistics)
    step = statement.stride(write, along, statistics)
    if abs(pitch) < SHORTEST_PITCH or abs(step) != 1:
        return None
    extents = statistics.extents(write.array)
    strides = [prod(extents[position + 1 :]) for position in range(len(extents))]
    found: dict[Access, Neighbour] = {}
    for read in statement.statement.reads:
        if read.array.name != write.array.name:
            continue
        if read.coefficients != write.coefficients:
            return None
        pairs = zip(read.constants, write.constants, strides, strict=True)
        distance = sum((a - b) * stride for a, b, stride in pairs)
        rows = round(distance / pitch)
        if abs(rows) > 1:
            return None
        found[read] = Neighbour(rows, step * (distance - rows * pitch))
    return found or None


def is_made_anew(neighbour: Neighbour, others: Iterable[Neighbour]) -> bool:
    """Whether a step makes the vector of a neighbour: others are those of earlier steps.

    Of old values it loads the furthest one, and what lies in other rows it moves by a lane.
    """
    alike = [each for each in others if each.is_new == neighbour.is_new]
    if neighbour.rows == 0:
        return not neighbour.is_new and neighbour.lag == max(e.lag for e in alike if not e.rows)
    return neighbour.lag == max(each.lag for each in alike if each.rows == neighbour.rows)
