"""A line that says how far the labelling is, how fast it goes and how long it will take."""

from __future__ import annotations

import sys
import time

EVERY_SECONDS = 0.2
EVERY_SECONDS_IN_FILES = 30.0


class Progress:
    """Counts programs and pairs; without a terminal, prints a line now and then.

    How many programs there are to be is None where nobody knows.
    """

    def __init__(self, programs: int | None) -> None:
        self._programs = programs
        self._done = 0
        self.pairs = 0
        self.incidents = 0
        self._start = time.monotonic()
        self._last = 0.0
        self._is_terminal = sys.stderr.isatty()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._start

    @property
    def rate(self) -> float:
        """Labelled pairs per second."""
        return self.pairs / max(1e-9, self.seconds)

    def advance(self, pairs: int, incidents: int) -> None:
        """One more program."""
        self._done += 1
        self.pairs += pairs
        self.incidents += incidents
        self.show()

    def show(self) -> None:
        """Prints the line, if it is time."""
        now = time.monotonic()
        if now - self._last < (EVERY_SECONDS if self._is_terminal else EVERY_SECONDS_IN_FILES):
            return
        self._last = now
        text = str(self)
        if self._is_terminal:
            print(f"\r\x1b[K{text}"[:160], end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Removes the line."""
        if self._is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __str__(self) -> str:
        if self._programs is None:
            return f"{self._done} programs, {self.pairs} pairs, {self.rate:.1f} pairs/s"
        share = self._done / max(1, self._programs)
        bar = "#" * round(20 * share)
        left = "?"
        if self._done:
            left = _duration(self.seconds / self._done * (self._programs - self._done))
        incidents = f", {self.incidents} incidents" if self.incidents else ""
        return (
            f"[{bar:<20}] {self._done}/{self._programs} programs, {self.pairs} pairs, "
            f"{self.rate:.1f} pairs/s, {left} left{incidents}"
        )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
