"""Strategy: matrix-vector products and other two-loop nests that stream matrices."""

from __future__ import annotations

from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.recurrence_bound import recurrence
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, chain, leaves
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.interchange import Interchange
from ..transformations.parallel import Parallel
from ..transformations.unroll_and_jam import UnrollAndJam
from .partial_sums import partial_results

ROWS = 4
"""Rows of a matrix that are streamed at the same time, at least."""

LONG = 512
"""Elements of a row from which on twice as many are, where registers suffice."""

SHARE_OF_REGISTERS = 0.5
"""For a sum, or what is added up, of each row of all matrices."""


def matrix_vector(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Streams several rows at once, which share what is loaded of vectors; threads take rows.

    Where threads would add to the same vector, each has its own, which are summed up in the end.
    The innermost loop is left to LLVM, which makes vectors of it. Loops of one iteration go
    outside.

    for i:                      parallel for strips of 4 rows i:
      for j:                      for j:
        x[i] += A[i, j] * y[j]      for i in strip: x[i] += A[i, j] * y[j]
    """
    if not isinstance(nest, Loop):
        return None
    schedule, outer, nest = without_single_iterations(schedule, nest, context)
    if not streams_rows(schedule, outer, nest, context):
        return None
    statement = next(iter(nest.schedule))
    rows = _rows(schedule, nest, context)
    if context.threads > 1 and work(schedule, nest, context) >= LEAST_INSTANCES:
        threaded = _on_threads(schedule, statement, nest, context, rows)
        if threaded is not None:
            return threaded
    jammed = _jam(schedule, statement, nest.name, rows)
    return None if jammed is None else jammed[0]


def without_single_iterations(
    schedule: Schedule, nest: Loop, context: SchedulingContext
) -> tuple[Schedule, tuple[Loop, ...], Loop]:
    """Loops of a perfect nest that have one iteration, outside; these, and the nest in them."""
    loops = chain(nest)
    statements = [context.statistics(schedule.scop).statements[name] for name in nest.schedule]
    trips = [
        max(counts) for counts in zip(*(each.trips(loops) for each in statements), strict=True)
    ]
    single = [loop for loop, count in zip(loops, trips, strict=True) if count <= 1]
    several = [loop for loop in loops if loop not in single]
    if not single or not several:
        return schedule, (), nest
    order = tuple(schedule.short_name(loop) for loop in (*single, *several))
    try:
        found = schedule.apply(Interchange(order))
    except TransformationError:
        return schedule, (), nest
    statement = next(iter(nest.schedule))
    around = tuple(found.loop(f"{statement}.{loop.name}") for loop in (*single, several[0]))
    return found, around[:-1], around[-1]


def streams_rows(
    schedule: Schedule,
    around: tuple[Loop, ...],
    nest: Loop,
    context: SchedulingContext,
    *,
    shared: bool = True,
) -> bool:
    """Whether some statement walks along rows of a matrix, the next row in the outer loop.

    There must be two loops around it and at most two around any, enough rows, and if `shared`, in
    each something that is used for all of them. Where all iterations are independent, rows have no
    sums to share: as many streams to and from memory only get in each other's way.
    """
    statistics = context.statistics(schedule.scop)
    found = False
    for leaf, loops in leaves(nest, around):
        statement = statistics.statements[leaf.statement]
        inner = loops[len(around) :]
        if len(inner) > 2:
            return False
        if len(inner) == 2 and statement.trips(loops)[-2] >= 2 * ROWS:
            across, along = (statement.direction(loops, loop) for loop in inner)
            if across is None or along is None:
                return False
            strides = [
                (
                    statement.stride(access, across, statistics),
                    statement.stride(access, along, statistics),
                )
                for access in statement.statement.accesses
            ]
            rows = any(abs(outer) > 1 and inner == 1 for outer, inner in strides)
            is_shared = any(outer == 0 and inner == 1 for outer, inner in strides)
            if rows and (is_shared or not shared):
                found = found or not all(map(schedule.is_coincident, inner))
    return found


def work(schedule: Schedule, nest: Loop, context: SchedulingContext) -> float:
    """Instances of all statements of a nest."""
    statistics = context.statistics(schedule.scop)
    return sum(statistics.statements[name].instances for name in nest.schedule)


def _rows(schedule: Schedule, nest: Loop, context: SchedulingContext) -> int:
    """How many rows to stream at the same time; fewer where each waits for the row before it."""
    statistics = context.statistics(schedule.scop)
    if any(
        all(recurrence(schedule, [leaf.statement], loop) for loop in loops)
        for leaf, loops in leaves(nest, ())
        if len(loops) == 2
    ):
        return ROWS
    lengths: list[float] = []
    matrices: set[str] = set()
    for leaf, loops in leaves(nest, ()):
        if len(loops) == 2:
            statement = statistics.statements[leaf.statement]
            lengths.append(statement.trips(loops)[-1])
            matrices |= {
                access.array.name
                for access in statement.statement.accesses
                if len(access.map.results) > 1
            }
    has_room = (
        2 * ROWS * max(1, len(matrices)) <= SHARE_OF_REGISTERS * schedule.target.vector_registers
    )
    return 2 * ROWS if has_room and min(lengths) >= LONG else ROWS


def _jam(schedule: Schedule, statement: str, loop: str, rows: int) -> tuple[Schedule, str] | None:
    """The schedule with a loop in strips of rows, and the name of the loop over strips."""
    step = UnrollAndJam((f"{statement}.{loop}",), rows)
    try:
        (strips,) = step.resolve(schedule).new_loops(schedule)
        return schedule.apply(step), strips
    except TransformationError:
        return None


def _on_threads(
    schedule: Schedule, statement: str, nest: Loop, context: SchedulingContext, rows: int
) -> Schedule | None:
    """Strips of rows on threads, with partial sums where these are needed; None if not legal."""
    direct, strips = _jam(schedule, statement, nest.name, rows) or (schedule, nest.name)
    try:
        return direct.apply(Parallel((f"{statement}.{strips}",)))
    except TransformationError:
        pass
    found = partial_results(schedule, statement, nest, context, rows)
    if found is None:
        return None
    factored, part = found
    result, _ = _jam(factored, statement, nest.name, rows) or (factored, "")
    try:
        return result.apply(Parallel((f"{statement}.{part}",)))
    except TransformationError:
        return None
