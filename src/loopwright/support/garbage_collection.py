"""Garbage-collector tuning for compile-heavy phases."""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager

from .fork_safety import held_in_forks

_OBJECTS = 50_000
"""New objects until Python looks for cycles: so many as a candidate or two make."""

_lock = threading.Lock()
held_in_forks(_lock)

_phases = 0
_before: tuple[int, int, int] | None = None
"""Phases of all threads that go on, and the thresholds before the first of them."""


def collect_garbage_seldom() -> None:
    """Looks for cycles after many new objects, and at new ones only, for the rest of the process.

    By default Python looks after 700, which takes a tenth of its part in compiling, and a quarter
    of a search's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS, 10, 10)


@contextmanager
def garbage_collected_seldom() -> Generator[None]:
    """The same for a while, without a collection; after it, everything is as it was before."""
    global _phases, _before
    with _lock:
        # Python counts frozen objects one by one: 0.1 s where there are millions.
        is_seldom = gc.get_threshold()[0] >= _OBJECTS
        if not _phases and not is_seldom and not gc.get_freeze_count():
            _before = gc.get_threshold()
            gc.freeze()
            gc.set_threshold(_OBJECTS, 10, 10)
        _phases += 1
    try:
        yield
    finally:
        with _lock:
            _phases -= 1
            if not _phases and _before is not None:
                gc.set_threshold(*_before)
                gc.unfreeze()
                _before = None
