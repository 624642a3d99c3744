"""Sizes of the parts of a loop that threads take, one or a few each."""

from __future__ import annotations

from math import ceil

from ..estimate.program_statistics import StatementStatistics
from ..polyhedral.schedule_tree import Loop

FINEST = 4
"""Parts for each thread, at most, where as many parts as threads are not alike."""


def part_size(
    statement: StatementStatistics, loop: Loop, trips: float, threads: int, unit: int = 1
) -> int:
    """Iterations of a part, a multiple of `unit`, so that threads have as equal shares as can be.

    Parts begin at multiples of their size, wherever the loop begins: from 1 to 60, parts of 30 are
    three, the last one of one iteration; parts of 31 are two.
    """
    first, count = _first(statement, loop), ceil(trips)
    sizes = [
        (ceil(count / threads / parts / unit) + more) * unit
        for parts in range(1, FINEST + 1)
        for more in range(2)
    ]
    ends_last = ceil((first + count) / threads / unit) * unit
    return min((*sizes, ends_last), key=lambda size: _longest(first, count, size, threads))


def _first(statement: StatementStatistics, loop: Loop) -> int:
    """The value that a loop begins with, as far as it is one of the loops as written."""
    position = statement.iterator_of(loop)
    least = None if position is None else statement.points.dim_min_val(position)
    return least.to_python() if least is not None and least.is_int() else 0


def _longest(first: int, count: int, size: int, threads: int) -> tuple[int, int]:
    """Iterations of the thread that has most of them, and how many parts there are.

    Threads take as many parts as others, or one more: those at the front.
    """
    begin, end = first // size, (first + count - 1) // size + 1
    number = end - begin
    share, more = divmod(number, threads)
    longest = 0
    for thread in range(threads):
        parts = share + (thread < more)
        low, high = max(first, begin * size), min(first + count, (begin + parts) * size)
        longest = max(longest, high - low)
        begin += parts
    return longest, number
