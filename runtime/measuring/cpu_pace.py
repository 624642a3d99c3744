"""Detection of CPU slow-downs (frequency, steal) during measurements.

On a shared host, code is up to a third slower for half a second now and then.
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
"""Scalar products that take so many times their usual seconds are slow."""

PATIENCE = 0.15
"""Seconds to wait for a CPU that is slow: it may stay so."""

PAUSE = 0.002


class Pace:
    """Whether a repeated computation takes as long as usual."""

    def __init__(self, slow: float, kept: int | None = None) -> None:
        """What takes `slow` times the usual seconds is slow; the last `kept` times say, or all."""
        self._slow = slow
        self._known: deque[float] = deque(maxlen=kept)

    def is_usual(self, seconds: float) -> bool:
        """Whether one more time is not slow."""
        self._known.append(seconds)
        return seconds <= self._slow * sorted(self._known)[int(USUAL * len(self._known))]


class PaceWatch:
    """Times the same scalar products repeatedly."""

    def __init__(self) -> None:
        generator = np.random.default_rng(0)
        self._vectors = generator.random(ELEMENTS), generator.random(ELEMENTS)
        self._pace = Pace(SLOW, KEPT)

    def is_steady(self) -> bool:
        """Whether this CPU is as fast as usual now."""
        one, other = self._vectors
        for _ in range(WARMING):  # what has run before has taken the caches
            one.dot(other)
        start = time.perf_counter()
        for _ in range(CALLS):
            one.dot(other)
        return self._pace.is_usual(time.perf_counter() - start)

    def wait(self) -> None:
        """Returns when this CPU is as fast as usual, or after `PATIENCE`."""
        end = time.perf_counter() + PATIENCE
        while not self.is_steady() and time.perf_counter() < end:
            time.sleep(PAUSE)
