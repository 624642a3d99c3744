"""Fallback strategy: vectorise the best loop innermost, parallelise the outermost legal one."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType

from ..estimate.elementary_functions import has_elementary_functions
from ..estimate.gather_costs import gathers_along
from ..estimate.local_extents import stored_statistics
from ..estimate.operation_costs import accumulates_in_lanes, is_called_by_lane
from ..estimate.program_statistics import ProgramStatistics, StatementStatistics
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.set_conflicts import evicts_columns
from ..estimate.vector_widths import lanes_for
from ..polyhedral.gathers import GatherLanes
from ..polyhedral.schedule_tree import Loop, Tree, chain, leaves, loops_around, statements, walk
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule, Transformation
from ..transformations.interchange import Interchange
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .outermost_parallel import mark_parallel
from .steps import attempt

FEWEST_LANES = 0.5
"""Iterations of a vector loop, as a share of the lanes: shorter loops are unrolled by LLVM."""

LONG_RUN, FEWEST_RUNS = 8, 4
"""Registers of a vector where loops inside evict the lines that neighbouring columns share, and
how many such vectors a loop has at least."""

SHORTEST_BLOCK = 4
"""Iterations of such a loop in the blocks of another one."""

UNROLLED = 4
"""Vectors of an iteration where neighbours are shared."""

CASTS = ("arith.extsi", "arith.extui", "arith.trunci")
"""Operations that vanish where those around them are narrowed."""

LONGEST_BAND = 4
"""Orders of more loops than this are not tried."""


def vectorise_and_parallelise(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Moves the loop along which most accesses are contiguous innermost, and marks loops.

    for i: for k: for j: S      ->      parallel i: for k: vector j: S
    """
    statistics = stored_statistics(schedule, context)
    members = statements(nest)
    result = schedule
    for name in members:
        result = innermost_vector_loop(result, name, statistics)
    for name in members:
        result = _transposed(result, name, statistics)
        result = _unrolled(result, name, statistics)
    return mark_parallel(result, members, context)


def innermost_vector_loop(schedule: Schedule, name: str, statistics: ProgramStatistics) -> Schedule:
    """The best loop around a statement as its vector loop, innermost; shared nests stay.

    Elementary functions, whose instructions wait for each other, get vectors of two registers.
    Where each lane calls the C library, there is nothing to gain.
    """
    outer = loops_around(schedule.tree, name)
    if not outer or outer[-1].vector is not None:
        return schedule
    target, may_reassociate = schedule.target, schedule.reassociate
    body = statistics.statements[name].statement.body
    if any(is_called_by_lane(op, target, reassociate=may_reassociate) for op in body):
        return schedule
    band = next(outer[k:] for k in range(len(outer)) if len(chain(outer[k])) == len(outer) - k)
    statement = statistics.statements[name]

    def contiguous(loop: Loop) -> tuple[int, ...]:
        parts = [
            _strides_along(loop, statistics.statements[leaf.statement], loops, statistics)
            for leaf, loops in leaves(band[-1], outer[:-1])
        ]
        return tuple(map(sum, zip(*parts, strict=True)))

    trips = dict(zip(map(id, outer), statement.trips(outer), strict=True))
    lanes = min(schedule.target.lanes(a.array.element_type) for a in statement.statement.writes)
    calls = has_elementary_functions(statement.statement, schedule.target)
    several = [
        loop
        for loop in band[-LONGEST_BAND:]
        if trips[id(loop)] >= FEWEST_LANES * lanes
        or (loop.within is not None and trips[id(loop)] >= SHORTEST_BLOCK)
    ]
    for loop in sorted(several, key=contiguous):
        order = (*(other for other in band if other is not loop), loop)
        steps: list[Transformation] = []
        if order != band:
            steps.append(Interchange(tuple(_name(schedule, other, name) for other in order)))
        width = lanes_for(lanes, trips[id(loop)], waits=calls)
        if (
            loop is outer[-1]
            and trips[id(loop)] >= FEWEST_RUNS * LONG_RUN * lanes
            and evicts_columns(statistics, loop, outer[0], target)
        ):
            width = LONG_RUN * lanes
        steps.append(Vectorize((_name(schedule, loop, name),), None if width == lanes else width))
        try:
            return schedule.apply_all(steps)
        except TransformationError:
            if loop is several[-1] and accumulates_in_lanes(schedule, name):
                return schedule  # LLVM makes vectors of the terms of a sum.
    return schedule


def _strides_along(
    loop: Loop,
    statement: StatementStatistics,
    outer: tuple[Loop, ...],
    statistics: ProgramStatistics,
) -> tuple[int, int, int]:
    """Accesses whose lanes along a loop are apart; those in rows, less than none; all strides."""
    direction = statement.direction(outer, loop)
    if direction is None:
        return len(statement.statement.accesses), 0, 0
    accesses = statement.statement.accesses
    strides = [abs(statement.stride(each, direction, statistics)) for each in accesses]
    apart = sum(stride > 1 for stride in strides)
    rows = list(gathers_along(statement.statement, direction).values())
    apart += sum(found in (GatherLanes.SPREAD, GatherLanes.APART) for found in rows)
    return apart, -strides.count(1) - rows.count(GatherLanes.ROW), sum(strides)


def _transposed(schedule: Schedule, name: str, statistics: ProgramStatistics) -> Schedule:
    """The loop inside of a vector loop unrolled, where each lane walks along a row of its own.

    As many neighbours in a row as there are lanes are loaded as rows then, and transposed.
    """
    outer = loops_around(schedule.tree, name)
    statement = statistics.statements[name]
    vector = next((loop for loop in outer[:-1] if loop.vector is not None), None)
    if vector is None or vector.vector is None or outer[-1].unroll is not None:
        return schedule
    if any(isinstance(node, Loop) for node in walk(outer[-1].body)):
        return schedule
    across, along = (statement.direction(outer, loop) for loop in (vector, outer[-1]))
    if across is None or along is None:
        return schedule
    for access in statement.statement.accesses:
        lanes, inner = (abs(statement.stride(access, each, statistics)) for each in (across, along))
        if inner == 1 and lanes > 1:
            step = Unroll((_name(schedule, outer[-1], name),), vector.vector)
            return attempt(schedule, step) or schedule
    return schedule


def _unrolled(schedule: Schedule, name: str, statistics: ProgramStatistics) -> Schedule:
    """An innermost vector loop unrolled, where its iterations read neighbours along a row.

    Of vectors as long as a cache line, all but one neighbour lie across the border of two. What
    lies between two vectors is made of them in registers then (`lowering.llvm.shifted_loads`).
    """
    target = schedule.target
    outer = loops_around(schedule.tree, name)
    loop = outer[-1] if outer else None
    if loop is None or loop.vector is None or loop.unroll is not None:
        return schedule
    statement = statistics.statements[name]
    is_long = statement.trips(outer)[-1] >= 2 * UNROLLED * loop.vector
    if not is_long or target.vector_bits < 8 * target.cache_line:
        return schedule
    if loop.vector * _widest(statement) > target.vector_bits:
        return schedule  # Several registers of a vector leave no room for copies.
    if not _reads_neighbours(loop, statement, outer, statistics):
        return schedule
    return attempt(schedule, Unroll((_name(schedule, loop, name),), UNROLLED)) or schedule


def _widest(statement: StatementStatistics) -> int:
    """Bits of the widest values that a statement computes."""
    widths = [0]
    for operation in statement.statement.body:
        if operation.name in CASTS:
            continue  # The operations around it are narrowed, or compute in its type.
        narrowed = statement.narrowed.get(operation)
        kinds = (result.type for result in operation.results)
        widths += [kind.bitwidth for kind in kinds if isinstance(kind, FixedBitwidthType)]
        if narrowed is not None:
            widths[-1] = narrowed.width
    return max(widths)


def _reads_neighbours(
    loop: Loop,
    statement: StatementStatistics,
    outer: tuple[Loop, ...],
    statistics: ProgramStatistics,
) -> bool:
    """Whether a statement reads elements less than a vector apart, along a vector loop."""
    assert loop.vector is not None
    direction = statement.direction(outer, loop)
    if direction is None:
        return False
    rows: dict[tuple[str, object, object], set[int]] = {}
    for access in statement.statement.reads:
        if access.constants and statement.stride(access, direction, statistics) == 1:
            *others, last = access.constants
            key = access.array.name, access.coefficients, tuple(others)
            rows.setdefault(key, set()).add(last)
    return any(0 < max(row) - min(row) < loop.vector for row in rows.values())


def _name(schedule: Schedule, loop: Loop, statement: str) -> str:
    return f"{statement}.{loop.name}"
