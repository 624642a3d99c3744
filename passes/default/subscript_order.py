"""Loops over the subscripts of a table, whatever loops a program runs over it.

Tables are filled by rows, by columns or by diagonals: `for l: for i: C[i, i + l]`. Skewing,
interchange and reversal make every such nest one over rows and columns (unimodular transformations;
Banerjee, 1990).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import product

from ..estimate.program_statistics import StatementStatistics
from ..polyhedral.schedule_tree import Loop, loops_around
from ..polyhedral.scop import Access
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.interchange import Interchange
from ..transformations.reverse import Reverse
from ..transformations.skew import Skew

_Rows = tuple[tuple[int, int], tuple[int, int]]
"""The two loops, outermost first, as sums of multiples of the two subscripts."""

_LONGEST = 5
"""Steps from one order to another: a skew, an interchange, a skew and an interchange, as a rule."""

_MOST = 8
"""Sequences of steps that are tried."""

_FACTORS = (0, 1, -1, 2, -2)


def by_subscripts(
    schedule: Schedule, name: str, store: Access, statement: StatementStatistics
) -> Iterator[Schedule]:
    """Schedules whose two loops around a statement run over rows, then along rows of a table.

    Along rows they go forward. There are none where the outer two loops are not around all that
    they contain together, or the table has no two subscripts.
    """
    outer, inner = loops_around(schedule.tree, name)[:2]
    rows = _in_subscripts((outer, inner), store, statement)
    if rows is None or outer.body is not inner:
        return
    for steps in list(_sequences(rows))[:_MOST]:
        result = schedule
        try:
            for kind, factor in steps:
                result = result.apply(_step(result, name, kind, factor))
        except TransformationError:
            continue
        yield result


def _in_subscripts(
    loops: Sequence[Loop], store: Access, statement: StatementStatistics
) -> _Rows | None:
    if len(store.map.results) != 2:
        return None
    first, second = store.coefficients
    found: list[tuple[int, int]] = []
    for loop in loops:
        slopes = statement.slopes(loop)
        sums = (
            factors
            for factors in product(_FACTORS, _FACTORS)
            if all(
                factors[0] * a + factors[1] * b == slope
                for a, b, slope in zip(first, second, slopes, strict=True)
            )
        )
        factors = next(sums, None)
        if factors is None:
            return None
        found.append(factors)
    return found[0], found[1]


def _sequences(start: _Rows) -> Iterator[tuple[tuple[str, int], ...]]:
    """Steps that lead to a loop over the first subscript and, inside, one over the second."""
    queue: deque[tuple[_Rows, tuple[tuple[str, int], ...]]] = deque([(start, ())])
    while queue:
        rows, steps = queue.popleft()
        (a, b), (c, d) = rows
        if abs(a) == 1 and (b, c, d) == (0, 0, 1):
            yield steps
            continue
        if len(steps) == _LONGEST:
            continue
        last = steps[-1][0] if steps else ""
        for factor in (1, -1) if last != "skew" else ():
            skewed = (a, b), (c + factor * a, d + factor * b)
            queue.append((skewed, (*steps, ("skew", factor))))
        if last != "interchange":
            queue.append((((c, d), (a, b)), (*steps, ("interchange", 0))))
        if last != "reverse":
            queue.append((((a, b), (-c, -d)), (*steps, ("reverse", 0))))


def _step(schedule: Schedule, name: str, kind: str, factor: int) -> Transformation:
    outer, inner = (f"{name}.{loop.name}" for loop in loops_around(schedule.tree, name)[:2])
    match kind:
        case "skew":
            return Skew((outer, inner), (factor,))
        case "reverse":
            return Reverse((inner,))
        case _:
            return Interchange((inner, outer))
