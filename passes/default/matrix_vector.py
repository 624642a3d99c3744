"""Products of matrices and vectors, and all that streams matrices through two loops."""

from __future__ import annotations

from math import ceil

from ..schedule import Schedule
from ..schedule_tree import Loop, Tree, leaves
from ..transformation import TransformationError
from ..transformations.parallel import Parallel
from ..transformations.rfactor import Rfactor
from ..transformations.strip_mine import StripMine
from ..transformations.unroll_and_jam import UnrollAndJam
from .request import Request
from .vector_parallel import PARALLEL_WORK

ROWS = 4
"""Rows of a matrix that are streamed at the same time."""

PARTIAL_WORK = 16
"""Instances per element of the partial results that threads sum up, at least."""


def matrix_vector(schedule: Schedule, nest: Tree, request: Request) -> Schedule | None:
    """Streams several rows at once, which share what is loaded of vectors; threads take rows.

    Where threads would add to the same vector, each has its own, which are summed up in the end.
    The innermost loop is left to LLVM, which makes vectors of it.

    for i:                      parallel for strips of 4 rows i:
      for j:                      for j:
        x[i] += A[i, j] * y[j]      for i in strip: x[i] += A[i, j] * y[j]
    """
    if not isinstance(nest, Loop) or not _streams_rows(schedule, nest, request):
        return None
    statement = next(iter(nest.schedule))
    if request.threads > 1 and _work(nest, schedule, request) >= PARALLEL_WORK:
        threaded = _on_threads(schedule, statement, nest, request)
        if threaded is not None:
            return threaded
    jammed = _jam(schedule, statement, nest.name)
    return None if jammed is None else jammed[0]


def _streams_rows(schedule: Schedule, nest: Loop, request: Request) -> bool:
    """Whether some statement walks along rows of a matrix, the next row in the outer loop.

    There must be two loops around it and at most two around any, enough rows, and in each something
    that is used for all of them.
    """
    facts = request.facts(schedule.scop)
    found = False
    for leaf, loops in leaves(nest, ()):
        statement = facts.statements[leaf.statement]
        if len(loops) > 2:
            return False
        if len(loops) == 2 and statement.trips(loops)[0] >= 2 * ROWS:
            across, along = (statement.direction(loops, loop) for loop in loops)
            if across is None or along is None:
                return False
            strides = [
                (statement.stride(access, across, facts), statement.stride(access, along, facts))
                for access in statement.statement.accesses
            ]
            rows = any(abs(outer) > 1 and inner == 1 for outer, inner in strides)
            shared = any(outer == 0 and inner == 1 for outer, inner in strides)
            found = found or (rows and shared)
    return found


def _work(nest: Loop, schedule: Schedule, request: Request) -> float:
    facts = request.facts(schedule.scop)
    return sum(facts.statements[name].instances for name in nest.schedule)


def _jam(schedule: Schedule, statement: str, loop: str) -> tuple[Schedule, str] | None:
    """The schedule with a loop in strips of rows, and the name of the loop over strips."""
    step = UnrollAndJam((f"{statement}.{loop}",), ROWS)
    try:
        (strips,) = step.resolve(schedule).new_loops(schedule)
        return schedule.apply(step), strips
    except TransformationError:
        return None


def _on_threads(
    schedule: Schedule, statement: str, nest: Loop, request: Request
) -> Schedule | None:
    """Strips of rows on threads, with partial sums where these are needed; None if not legal."""
    direct, rows = _jam(schedule, statement, nest.name) or (schedule, nest.name)
    try:
        return direct.apply(Parallel((f"{statement}.{rows}",)))
    except TransformationError:
        pass
    facts = request.facts(schedule.scop)
    share = (
        max(facts.statements[name].trips((nest,))[0] for name in nest.schedule) / request.threads
    )
    size = ceil(share / ROWS) * ROWS
    step = StripMine((f"{statement}.{nest.name}",), size)
    try:
        (part,) = step.resolve(schedule).new_loops(schedule)
        divided = schedule.apply(step)
        factored = divided.apply(Rfactor((f"{statement}.{part}",)))
    except TransformationError:
        return None
    if not _is_cheap(factored, divided, request):
        return None
    result, _ = _jam(factored, statement, nest.name) or (factored, "")
    try:
        return result.apply(Parallel((f"{statement}.{part}",)))
    except TransformationError:
        return None


def _is_cheap(factored: Schedule, before: Schedule, request: Request) -> bool:
    """Whether the statements that make and combine partial results are few beside the others."""
    old = {statement.name for statement in before.scop.statements}
    facts = request.facts(factored.scop)
    own = sum(each.instances for name, each in facts.statements.items() if name in old)
    added = sum(each.instances for name, each in facts.statements.items() if name not in old)
    return own >= PARTIAL_WORK * added
