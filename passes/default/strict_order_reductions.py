"""Strategy: sums along rows in strict order, as in matrix-vector products and normalisations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat

from ..estimate.elementary_functions import elementary_cycles
from ..estimate.operation_costs import accumulates_in_lanes
from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.program_statistics import subscript_steps
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.set_conflicts import largest_jam
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, chain, leaves, loops_around
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.interchange import Interchange
from ..transformations.parallel import Parallel
from ..transformations.reorder import Reorder
from ..transformations.strip_mine import StripMine
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .matrix_vector import streams_rows, without_single_iterations, work
from .steps import attempt
from .thread_parts import part_size

PARTS = 2
"""Parts of the columns for each thread."""

ROWS = 16
"""Rows of a strip, at most two vectors: two sums in each lane hide each other's waits."""


def strict_order_reductions(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Rows in the lanes of vectors, one sum per lane; other statements have the same strips.

    Square blocks of the matrix are transposed in registers. What is left of a strip's rows is read
    from a near cache by the statements that come after.

    for i:                             for strips of 16 rows i:
      for j:                             for jt: for j in jt: vector i in strip: S0
        S0: x[i] += A[i, j] * y[j]       for j in vectors: for i in strip: S1
        S1: z[j] += A[i, j] * w[i]
    """
    if not isinstance(nest, Loop) or schedule.reassociate:
        return None
    schedule, around, nest = without_single_iterations(schedule, nest, context)
    if not streams_rows(schedule, around, nest, context, shared=False):
        return None
    sums = row_sums(schedule, around, nest, context)
    lanes = lanes_of(schedule, around, nest, context)
    if lanes is None or all(accumulates_in_lanes(schedule, name) for name in sums):
        return None  # What is exact in any order is accumulated in the lanes of a row.
    names = [leaf.statement for leaf, _ in leaves(nest, ())]
    strip = StripMine((f"{names[0]}.{nest.name}",), strip_of(lanes))
    is_shared = context.threads > 1 and work(schedule, nest, context) >= LEAST_INSTANCES
    try:
        (strips,) = strip.resolve(schedule).new_loops(schedule)
        result = _apart(schedule.apply(strip), names, nest.name)
        columns = _column_sums(schedule, around, nest, context) if is_shared else []
        behind = _behind_others(result, names, columns, strips) if columns else None
        if behind is None:
            columns = []
        else:
            result = behind
        for name in names:
            if name in columns:
                result = _columns_in_threads(result, name, nest.name, strips, context)
            if name in sums:
                result = in_lanes(result, name, nest.name, lanes)
            else:
                result = _along_rows(result, name, nest.name, lanes, context)
    except TransformationError:
        return None
    if is_shared:
        first = next((name for name in names if name not in columns), names[0])
        result = attempt(result, Parallel((f"{first}.{strips}",))) or result
    return result


def row_sums(
    schedule: Schedule, around: Sequence[Loop], nest: Loop, context: SchedulingContext
) -> frozenset[str]:
    """The statements that add up floats of a row, each row into an element next to the last."""
    statistics = context.statistics(schedule.scop)
    found: set[str] = set()
    for leaf, loops in leaves(nest, tuple(around)):
        accumulation = schedule.dependences.accumulations.get(leaf.statement)
        inner = loops[len(around) :]
        if accumulation is None or len(inner) != 2:
            continue
        if not isinstance(accumulation.store.array.element_type, AnyFloat):
            continue
        statement = statistics.statements[leaf.statement]
        across, along = (statement.direction(loops, loop) for loop in inner)
        if across is None or along is None or any(subscript_steps(accumulation.store, along)):
            continue
        # Those of local arrays, which are scalars as the program is, get lanes with their loops.
        is_next = subscript_steps(accumulation.store, across)[-1:] == [1]
        if (accumulation.store.array.is_local and is_next) or (
            statement.stride(accumulation.store, across, statistics) == 1
        ):
            found.add(leaf.statement)
    return frozenset(found)


def lanes_of(
    schedule: Schedule, around: Sequence[Loop], nest: Loop, context: SchedulingContext
) -> int | None:
    """Lanes of a vector; None where statements differ in these, or have fewer rows or terms."""
    statistics = context.statistics(schedule.scop)
    widths: set[int] = set()
    trips: list[float] = []
    for leaf, loops in leaves(nest, tuple(around)):
        statement = statistics.statements[leaf.statement]
        widths |= {
            schedule.target.lanes(access.array.element_type)
            for access in statement.statement.writes
        }
        trips += statement.trips(loops)[len(around) :]
    (lanes,) = widths if len(widths) == 1 else (None,)
    return lanes if lanes is not None and min(trips) >= lanes else None


def _apart(schedule: Schedule, names: Sequence[str], rows: str) -> Schedule:
    """Each statement in loops of its own under the strips."""
    for name in names:
        loops = loops_around(schedule.tree, name)
        position = next(k for k, loop in enumerate(loops) if loop.name == rows)
        if not isinstance(loops[position].body, Leaf | Loop):
            schedule = schedule.apply(Distribute((f"{name}.{rows}",)))
            loops = loops_around(schedule.tree, name)
        inner = chain(loops[position])
        if not isinstance(inner[-1].body, Leaf):
            path = tuple(f"{name}.{loop.name}" for loop in inner)
            schedule = schedule.apply(Distribute(path))
    return schedule


def _column_sums(
    schedule: Schedule, around: Sequence[Loop], nest: Loop, context: SchedulingContext
) -> list[str]:
    """The statements that add up columns: every row adds to the same elements."""
    statistics = context.statistics(schedule.scop)
    return [
        leaf.statement
        for leaf, loops in leaves(nest, tuple(around))
        if leaf.statement in schedule.dependences.accumulations
        and loops[-1] is not nest
        and statistics.statements[leaf.statement].rewrites(loops, nest)
    ]


def _behind_others(
    schedule: Schedule, names: Sequence[str], columns: Sequence[str], strips: str
) -> Schedule | None:
    """Sums of columns in loops of their own; None where others need them.

    Of the others, different strips run in different threads then.
    """
    others = [name for name in names if name not in columns]
    cuts = (others[-1], *columns[:-1])
    ordered = attempt(schedule, Reorder(statements=(*others, *columns)))
    return ordered and attempt(ordered, Distribute((f"{names[0]}.{strips}",), after=cuts))


def _columns_in_threads(
    schedule: Schedule, name: str, rows: str, strips: str, context: SchedulingContext
) -> Schedule:
    """Parts of the columns for each thread, of all rows; raises TransformationError.

    With one part each, two threads would write to a line between theirs all the time.
    """
    around = loops_around(schedule.tree, name)
    last = around[-1]
    statement = context.statistics(schedule.scop).statements[name]
    trips = statement.trips(around)[-1]
    unit = schedule.target.cache_line
    size = part_size(statement, last, trips, PARTS * context.threads, unit)
    part = StripMine((f"{name}.{last.name}",), size)
    (parts,) = part.resolve(schedule).new_loops(schedule)
    order = (f"{name}.{each}" for each in (parts, strips, rows))
    return schedule.apply_all([part, Interchange(tuple(order)), Parallel((f"{name}.{parts}",))])


def strip_of(lanes: int) -> int:
    """Rows of a strip for vectors of so many lanes."""
    return min(2 * lanes, max(lanes, ROWS))


def in_lanes(schedule: Schedule, name: str, rows: str, lanes: int) -> Schedule:
    """Vectors of rows for a sum of terms in the loop inside; raises TransformationError."""
    row, term = f"{name}.{rows}", f"{name}.{loops_around(schedule.tree, name)[-1].name}"
    blocks = StripMine((term,), lanes)
    (strip,) = blocks.resolve(schedule).new_loops(schedule)
    return schedule.apply_all(
        [
            blocks,
            Interchange((f"{name}.{strip}", term, row)),
            Unroll((term, row)),
            Vectorize((row,), lanes),
        ]
    )


def _along_rows(
    schedule: Schedule, name: str, rows: str, lanes: int, context: SchedulingContext
) -> Schedule:
    """Vectors along each row, for all rows of a strip at once.

    Row by row where they call functions, and where the rows' lines compete for the same sets of a
    cache. Raises TransformationError.
    """
    row, around = f"{name}.{rows}", loops_around(schedule.tree, name)
    last = around[-1]
    if last.name == rows:
        return attempt(schedule, Vectorize((row,), lanes)) or schedule
    term = f"{name}.{last.name}"
    vector = Vectorize((term,), lanes)
    body = schedule.scop.statement(name).body
    calls = any(elementary_cycles(operation, schedule.target, lanes) for operation in body)
    strip = next(loop for loop in around if loop.name == rows)
    statistics, factors = context.statistics(schedule.scop), (strip_of(lanes), 1)
    if calls or largest_jam(statistics, [(name,)], around, strip, factors, schedule.target) == 1:
        return schedule.apply(vector)
    return schedule.apply_all([Interchange((term, row)), Unroll((row,)), vector])
