"""Contractions whose streamed operand is contiguous along a loop over products only.

In `C[a, c, d] += X[d, k, a] * Y[k, c]` every `a` has a product of its own. A copy of its operand
for one product would take one element of each cache line; one for a line of products takes all.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..estimate.program_statistics import ProgramStatistics, bytes_of
from ..polyhedral.schedule_tree import loops_around
from ..polyhedral.scop import Access
from ..schedules.schedule import Schedule
from .contraction import Contraction, selects, stride_along

SHORT_ROW = 256
"""Bytes in a row of a result below which the next ones are computed soon: they share lines."""


@dataclass(frozen=True)
class LineOfProducts:
    """A loop over products in blocks of `size`, which have their panels copied together.

    `outside` are the loops over products that are outside of the copies; `inside` all others, with
    `loop`, in the order in which results lie in memory. `copies` are products with panels of their
    own in a block.
    """

    loop: str
    size: int
    copies: int
    outside: tuple[str, ...]
    inside: tuple[str, ...]


def line_of_products(
    schedule: Schedule, found: Contraction, statistics: ProgramStatistics, element: int
) -> LineOfProducts | None:
    """The loop over products along which alone the streamed operand is contiguous, if there is one.

    `element` has the bytes of an element of the copies.
    """

    def stride(access: Access, loop: str) -> int:
        return abs(stride_along(found, access, loop, statistics))

    statement = statistics.statements[found.statement]
    if 1 in (stride(found.streamed, name) for name in (found.vector, *found.terms)):
        return None
    line = next((name for name in found.others if stride(found.streamed, name) == 1), None)
    if line is None:
        return None
    around = {loop.name: loop for loop in loops_around(schedule.tree, found.statement)}
    (result,) = statement.statement.writes
    own = [name for name in found.others if selects(statement, around[name], found.streamed)]
    copies = size = min(found.extents[line], schedule.target.cache_line // element)
    row = found.extents[found.vector]
    while row * bytes_of(result.array.element_type) < SHORT_ROW:
        beside = next((name for name in own if stride(result, name) == row), None)
        if beside is None:
            break
        row *= found.extents[beside]
        copies *= found.extents[beside] if beside != line else 1
        own.remove(beside)
    outside = tuple(name for name in own if name != line)
    inside = sorted(set(found.others) - set(outside), key=lambda name: -stride(result, name))
    return LineOfProducts(line, size, copies, outside, tuple(inside))
