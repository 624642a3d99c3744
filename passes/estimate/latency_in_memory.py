"""Sums that loops inside of theirs leave in memory: an iteration loads what the one before stored.

    for k: for j, vector: C[i, j] += A[i, k] * B[k, j]

Processors hand on what one store has written; a load of parts of two stores, or of what was stored
under a mask, waits until these are in the cache.
"""

from __future__ import annotations

from ..polyhedral.schedule_tree import Loop
from .loops_around import LoopsAround, masked_share
from .program_statistics import StatementStatistics
from .scheduled_program import ScheduledProgram


def latency_in_memory(
    program: ScheduledProgram, statement: StatementStatistics, around: LoopsAround
) -> float:
    """Cycles per vector that sums take which loops inside of theirs leave in memory.

    What one iteration of the outer loop has stored, the next one loads.
    """
    machine = program.machine
    accesses = [(access.array.name, access.map) for access in statement.statement.reads]
    if not any((each.array.name, each.map) in accesses for each in statement.statement.writes):
        return 0.0
    inside = 1.0
    is_stored = False
    is_masked = masked_share(around) > 0
    for loop, count in zip(reversed(around.loops), reversed(around.trips), strict=True):
        vectors = max(1.0, count / around.lanes) if loop is around.vector else count
        if vectors > 1 and _is_shifted(program, statement, around, loop):
            # Stores reach the cache in order: chains that follow each other wait as well.
            return (1 - 1 / count) * machine.masked_forwarding / inside
        # LLVM has no registers for what it unrolls, where that is under masks.
        is_loop = loop.unroll != 0 or (is_masked and not program.unrolls(loop))
        if is_loop and vectors > 1 and statement.rewrites(around.loops, loop):
            break
        is_stored |= is_loop and vectors > 1
        inside *= vectors
    else:
        return 0.0
    if not is_stored:
        return 0.0
    addition = machine.latencies["additions"]
    if is_masked or _begins_elsewhere(statement, around, loop):
        # What is stored comes to the cache in order: other chains do not fill the time.
        return (addition + machine.masked_forwarding) / inside
    length = count * inside * len(statement.statement.body)
    under_way = machine.reorder_window / length
    return (addition + machine.vector_forwarding) / inside / max(1.0, under_way)


def _is_shifted(
    program: ScheduledProgram, statement: StatementStatistics, around: LoopsAround, loop: Loop
) -> bool:
    """Whether vectors that a statement stores overlap those that it loads an iteration later.

    Processors hand on what one store has written, not parts of two. In skewed loops, vectors
    begin elsewhere.
    """
    vector = around.vector
    if vector is None or loop is vector:
        return False
    step, along = (statement.direction(around.loops, each) for each in (loop, vector))
    if step is None or along is None:
        return False
    statistics = program.statistics
    strides = [
        abs(statement.stride(write, step, statistics))
        for write in statement.statement.writes
        if statement.stride(write, along, statistics) == 1
    ]
    is_skewed = vector.within is None and any(a and b for a, b in zip(step, along, strict=True))
    return any(stride < around.lanes and (stride or is_skewed) for stride in strides)


def _begins_elsewhere(statement: StatementStatistics, around: LoopsAround, loop: Loop) -> bool:
    """Whether vectors of an iteration of a loop begin elsewhere than those of the one before.

    A load of parts of two vectors waits until both are in the cache.
    """
    if around.vector is None:
        return False
    own, others = (
        {k for k, slope in enumerate(statement.slopes(each)) if slope}
        for each in (around.vector, loop)
    )
    return any(statement.limits.get(k, frozenset()) & others for k in own)
