"""Timing of a compiled call: pinned threads, cold caches, arrays restored between repetitions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence

from ..jit.threads import pinned, run_in_team
from .timing import Timing, repeat

Region = tuple[int, int]
"""The address and the number of bytes of an array."""


def time_call(
    call: Callable[[], object],
    *,
    threads: int,
    budget: float,
    restored: Sequence[Region] = (),
    flushed: Mapping[int, int] | None = None,
) -> Timing:
    """Measures `call` until its median is steady or `budget` seconds are spent.

    `restored` are written back before each repetition, and in the end, as they are now. `flushed`
    are the caches to empty before each repetition, as bytes per level (None: leave them).
    """
    saved = [(address, ctypes.string_at(address, size), size) for address, size in restored]

    def restore() -> None:
        for address, contents, size in saved:
            ctypes.memmove(address, contents, size)

    flush = _flusher(threads, flushed) if flushed is not None else None

    def prepare() -> None:
        restore()
        if flush is not None:
            flush()

    with pinned(threads) as is_pinned:
        seconds, steady = repeat(call, prepare if saved or flush else None, budget)
        restore()
    return Timing(seconds, threads, is_pinned, flush is not None, steady)


def _flusher(threads: int, caches: Mapping[int, int]) -> Callable[[], None]:
    """A function that fills all caches with other data.

    Every thread writes twice the size of its own caches, all together twice that of the last one.
    """
    levels = sorted(caches)
    own = sum(caches[level] for level in levels[:2])
    share = max(2 * own, 2 * caches[levels[-1]] // threads)
    buffers = [ctypes.create_string_buffer(share) for _ in range(threads)]

    def flush() -> None:
        waiting = list(buffers)

        def sweep() -> None:
            ctypes.memset(waiting.pop(), 1, share)

        run_in_team(threads, sweep)

    return flush
