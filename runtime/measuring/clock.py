"""Suspension-tolerant clock."""

from __future__ import annotations

import time

LONGEST_GAP = 1.0
"""Seconds between two looks, at most; in a longer gap this process did not run, either."""


class SuspensionTolerantClock:
    """Seconds since `restart`, without those of suspension (of process or machine).

    A process that is stopped, or a machine that sleeps, does not notice: the clock on the wall goes
    on. Who looks more often than every `LONGEST_GAP` can tell: of a longer gap only so much counts,
    and `was_suspended` says that there was one.
    """

    def __init__(self) -> None:
        self._is_paused = False
        self.restart()

    def restart(self) -> None:
        """Goes on from zero, or stands still at zero if it is paused."""
        self._seconds = 0.0
        self._last = time.monotonic()
        self.was_suspended = False

    def pause(self) -> None:
        """Stands still until `resume`."""
        self.look()
        self._is_paused = True

    def resume(self) -> None:
        """Goes on."""
        self.look()
        self._is_paused = False

    def look(self) -> float:
        """The seconds that have passed."""
        now = time.monotonic()
        gap, self._last = now - self._last, now
        if gap > LONGEST_GAP:
            self.was_suspended = True
        if not self._is_paused:
            self._seconds += min(gap, LONGEST_GAP)
        return self._seconds
