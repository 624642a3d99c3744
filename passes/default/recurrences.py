"""Strategy: independent recurrences along the rows or columns of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, leaves, loops_around
from ..schedules.active_pairs import Outer
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.distribute import Distribute
from ..transformations.interchange import Interchange
from ..transformations.parallel import Parallel
from ..transformations.strip_mine import StripMine
from ..transformations.unroll_and_jam import UnrollAndJam
from ..transformations.vectorize import Vectorize
from .matrix_vector import work
from .steps import MANY_REGISTERS
from .wider_vectors import REGISTERS, widest_worth_it

CHAINS = 4
"""Recurrences along rows that run at the same time: one waits while the others compute.

Twice as many where there are `MANY_REGISTERS`, and `ENOUGH` rows for each thread.
"""

ENOUGH = 16

COLUMNS = 64
"""Columns whose recurrences run together: some cache lines of every row."""

MOST_VECTORS = 8
"""Vectors of sums side by side that stay in registers while a strip of columns is summed up."""

OTHER_REGISTERS = 4
"""Vector registers that are needed besides those of such sums."""


def recurrences(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Runs several recurrences at once; threads take some of them.

    for i:                              parallel for strips of 4 rows i:
      for j:                              for j:
        y[i, j] = f(y[i, j - 1])            for i in strip: y[i, j] = f(y[i, j - 1])

    for j:                              parallel for strips of columns j:
      for i:                              for i:
        y[i, j] = f(y[i - 1, j])            vector j in strip: y[i, j] = f(y[i - 1, j])
    """
    if not isinstance(nest, Loop) or not schedule.legality.is_coincident(frozenset(), nest):
        return None
    inner = [loops[1] for _, loops in leaves(nest, ()) if len(loops) > 1]
    if not inner or any(len(loops) > 2 for _, loops in leaves(nest, ())):
        return None
    outer: Outer = schedule.legality.inside(frozenset(), nest)
    if all(schedule.legality.is_coincident(outer, loop) for loop in inner):
        return None
    is_parallel = context.threads > 1 and work(schedule, nest, context) >= LEAST_INSTANCES
    match _directions(schedule, nest, context):
        case (rows, 0) if (rows and not schedule.reassociate) or _is_more_than_sums(schedule, nest):
            return _along_rows(schedule, nest, context, is_parallel=is_parallel)
        case (0, columns) if columns:
            answers = [
                _along_columns(schedule, nest, width, is_parallel=is_parallel)
                for width in _columns(schedule, nest, context)
            ]
            known = [answer for answer in answers if answer is not None]
            return widest_worth_it(known, context, adds_up=False) if known else None
        case _:
            return None


def _is_more_than_sums(schedule: Schedule, nest: Loop) -> bool:
    """Whether something but sums, which LLVM can make vectors of, runs in the inner loops."""
    accumulating = schedule.dependences.accumulations
    return any(
        leaf.statement not in accumulating for leaf, loops in leaves(nest, ()) if len(loops) > 1
    )


def _directions(schedule: Schedule, nest: Loop, context: SchedulingContext) -> tuple[int, int]:
    """How many accesses walk along rows, and along columns, in the inner loops."""
    statistics = context.statistics(schedule.scop)
    rows = columns = 0
    for leaf, loops in leaves(nest, ()):
        if len(loops) < 2:
            continue
        statement = statistics.statements[leaf.statement]
        across, along = (statement.direction(loops, loop) for loop in loops)
        if across is None or along is None:
            return (0, 0)
        for access in statement.statement.accesses:
            if access.array.is_local:
                continue
            outer, inner = (
                abs(statement.stride(access, direction, statistics))
                for direction in (across, along)
            )
            rows += inner == 1 and outer > 1
            columns += outer == 1 and inner > 1
    return rows, columns


def _along_rows(
    schedule: Schedule, nest: Loop, context: SchedulingContext, *, is_parallel: bool
) -> Schedule | None:
    first = next(iter(nest.schedule))
    loop = f"{first}.{nest.name}"
    rows = context.statistics(schedule.scop).statements[first].trips((nest,))[0]
    has_room = schedule.target.vector_registers >= MANY_REGISTERS
    is_tall = rows >= ENOUGH * (context.threads if is_parallel else 1)
    jam = UnrollAndJam((loop,), 2 * CHAINS if has_room and is_tall else CHAINS)
    try:
        (strips,) = jam.resolve(schedule).new_loops(schedule)
        jammed = schedule.apply(jam)
        steps = [Parallel((f"{first}.{strips}",))] if is_parallel else []
        return jammed.apply_all(steps)
    except TransformationError:
        return None


def _columns(schedule: Schedule, nest: Loop, context: SchedulingContext) -> Sequence[int]:
    """Columns that run together: few enough that what is kept along them stays in registers.

    As many as there is room for in sums; of other steps, which need more registers, it depends.
    """
    statistics = context.statistics(schedule.scop)
    kept: dict[str, int] = {}
    adds_up = True
    for leaf, around in leaves(nest, ()):
        statement = statistics.statements[leaf.statement]
        if len(around) > 1 and statement.rewrites(around, around[1]):
            adds_up &= leaf.statement in schedule.dependences.accumulations
            for write in statement.statement.writes:
                kept[write.array.name] = schedule.target.lanes(write.array.element_type)
    if not kept:
        return [COLUMNS]
    room = (schedule.target.vector_registers - OTHER_REGISTERS) // len(kept)
    most = max(1, min(MOST_VECTORS, room))
    vectors = [most] if adds_up else [*(each for each in REGISTERS if each < most), most]
    return [each * max(kept.values()) for each in vectors]


def _along_columns(
    schedule: Schedule, nest: Loop, width: int, *, is_parallel: bool
) -> Schedule | None:
    first = next(iter(nest.schedule))
    strip = StripMine((f"{first}.{nest.name}",), width)
    try:
        (strips,) = strip.resolve(schedule).new_loops(schedule)
        result = schedule.apply(strip)
        if is_parallel:
            result = result.apply(Parallel((f"{first}.{strips}",)))
        if not isinstance(nest.body, Loop):
            result = result.apply(Distribute((f"{first}.{nest.name}",)))
        for name in nest.schedule:
            result = result.apply_all(_columns_inside(result, name, nest.name))
        return result
    except TransformationError:
        return None


def _columns_inside(schedule: Schedule, statement: str, columns: str) -> list[Transformation]:
    """The loop over the columns of a strip innermost and in vectors, once per loop."""
    loops = loops_around(schedule.tree, statement)
    if any(loop.vector is not None for loop in loops):
        return []
    if loops[-1].name == columns:
        return [Vectorize((f"{statement}.{columns}",))]
    return [
        Interchange((f"{statement}.{loops[-1].name}", f"{statement}.{columns}")),
        Vectorize((f"{statement}.{columns}",)),
    ]
