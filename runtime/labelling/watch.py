"""Whether a CPU is as fast as usual.

On a shared host it is not, for half a second now and then, and all code is up to a third slower.
"""

from __future__ import annotations

import time
from collections import deque

import numpy as np

ELEMENTS = 8192
"""Of each vector: both lie in a cache of level 2, and no library uses threads for them."""

CALLS = 60

WARMING = 3
"""Calls before these, which are not timed."""

KEPT = 400
"""Times that say what is usual ..."""

USUAL = 0.2
"""... the quantile of them that is."""

SLOW = 1.08
"""What takes so many times the usual seconds is slow."""

PATIENCE = 0.15
"""Seconds to wait for a CPU that is slow: it may stay so."""

PAUSE = 0.002


class Watch:
    """Times the same scalar products again and again."""

    def __init__(self) -> None:
        generator = np.random.default_rng(0)
        self._vectors = generator.random(ELEMENTS), generator.random(ELEMENTS)
        self._known: deque[float] = deque(maxlen=KEPT)

    def is_steady(self) -> bool:
        """Whether this CPU is as fast as usual now."""
        one, other = self._vectors
        for _ in range(WARMING):  # what has run before has taken the caches
            one.dot(other)
        start = time.perf_counter()
        for _ in range(CALLS):
            one.dot(other)
        seconds = time.perf_counter() - start
        self._known.append(seconds)
        return seconds <= SLOW * sorted(self._known)[int(USUAL * len(self._known))]

    def wait(self) -> None:
        """Returns when this CPU is as fast as usual, or after `PATIENCE`."""
        end = time.perf_counter() + PATIENCE
        while not self.is_steady() and time.perf_counter() < end:
            time.sleep(PAUSE)
