"""False sharing: threads that write again and again to two parts of the same cache lines."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..polyhedral.schedule_tree import Loop, leaves, place_of
from ..polyhedral.scop import Access
from .program_statistics import Slope, StatementStatistics, subscript_steps
from .scheduled_program import ScheduledProgram
from .vector_loops import VectorLoops

SHARED_LINE = 5e-8
"""Seconds until a line that another core has just written can be written (measured on a Zen 4)."""

CHUNKS = 8
"""Chunks for each thread of loops whose iterations take unlike times."""


def shared_line_seconds(program: ScheduledProgram, loop: Loop, outer: tuple[Loop, ...]) -> float:
    """Seconds that the threads of a parallel loop wait for lines at the borders of their parts.

    Where a thread has one part of each row, next to that of another thread, and both write to their
    parts of the same rows in every iteration of a loop inside. Arrays begin anywhere in a line.
    And where threads take the next few columns of a triangle in turn.
    """
    seconds = 0.0
    for leaf, loops in leaves(loop, outer):
        statement = program.statement(leaf.statement)
        trips = statement.trips(loops)
        place = place_of(loop, loops)
        if trips[place] > program.context.threads > 1:
            seconds += _at_borders_of_columns(program, statement, loops, place)
        if not 1 < trips[place] <= program.context.threads:
            continue
        inside = loops[place + 1 :]
        across = statement.motion(loops, loop)
        for write in statement.statement.writes:
            if write.array.argument is None or not _shares_rows(write, across):
                continue
            strides = [
                None if along is None else statement.stride(write, along, program.statistics)
                for each in inside
                for along in [statement.direction(loops, each)]
            ]
            if 1 not in strides:
                continue
            walk = list(zip(inside, trips[place + 1 :], strides, strict=True))
            lines = prod(count for _, count, stride in walk if stride not in (0, 1))
            # What stays where it is in the innermost loops that are no copies is in a register.
            kept = [(count, stride) for each, count, stride in walk if each.unroll != 0]
            while kept and kept[-1][1] == 0:
                kept.pop()
            again = prod(count for count, stride in kept if stride == 0)
            if again > 1:
                seconds += again * lines * SHARED_LINE
    return seconds


def _at_borders_of_columns(
    program: ScheduledProgram, statement: StatementStatistics, loops: tuple[Loop, ...], place: int
) -> float:
    """Seconds for the lines between columns that threads write to at the same time."""
    across = statement.motion(loops, loops[place])
    writes = [
        write
        for write in statement.statement.writes
        if write.array.argument is not None and _shares_rows(write, across)
    ]
    if not writes:
        return 0.0
    lengths = VectorLoops(program)
    if all(
        lengths.has_constant_length(statement.statement.name, loops[: end + 1])
        for end in range(place + 1, len(loops))
    ):
        return 0.0
    trips = statement.trips(loops)
    borders = min(trips[place], CHUNKS * program.context.threads) - 1
    return sum(
        borders
        * SHARED_LINE
        * prod(
            count
            for loop, count in zip(loops[place + 1 :], trips[place + 1 :], strict=True)
            for along in [statement.direction(loops, loop)]
            if along is None or statement.stride(write, along, program.statistics) not in (0, 1)
        )
        for write in writes
    )


def _shares_rows(write: Access, across: Sequence[Slope] | None) -> bool:
    """Whether a loop moves along the rows of an array, and along nothing else."""
    if across is None:
        return False
    *others, last = subscript_steps(write, across)
    return bool(last) and not any(others)
