"""Garbage-collector tuning for compile-heavy phases."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_OBJECTS = 50_000
"""New objects until Python looks for cycles: so many as a candidate or two make."""


def collect_garbage_seldom() -> None:
    """Looks for cycles after many new objects, and at new ones only.

    By default Python looks after 700, which takes a tenth of its part in compiling, and a quarter
    of a search's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS, 10, 10)


@contextmanager
def garbage_collected_seldom() -> Generator[None]:
    """`collect_garbage_seldom` for a while: after it, everything is as it was before."""
    before = gc.get_threshold()
    frozen = gc.get_freeze_count()
    collect_garbage_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen:
            gc.unfreeze()
