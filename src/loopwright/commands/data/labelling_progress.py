"""Progress of labelling: programs, pairs, pairs per second, incidents."""

from __future__ import annotations

import time

from ...support.progress import ProgressLine


class LabellingProgress:
    """Counts of labelled programs and pairs, with a progress line; used as a context manager.

    The number of all programs is None where a time-out ends the labelling.
    """

    def __init__(self, programs: int | None) -> None:
        self.pairs = 0
        self._programs = 0
        self._incidents = 0
        self._start = time.monotonic()
        self._all = programs
        self._line = ProgressLine(programs)

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
        self._programs += 1
        self.pairs += pairs
        self._incidents += incidents
        self._show()

    def _show(self) -> None:
        self._line.update(str(self), self._programs)

    def __str__(self) -> str:
        programs = f"{self._programs} programs, " if self._all is None else ""
        incidents = f", {self._incidents} incidents" if self._incidents else ""
        return f"{programs}{self.pairs} pairs, {self.rate:.1f} pairs/s{incidents}"

    def __enter__(self) -> LabellingProgress:
        self._show()
        return self

    def __exit__(self, *_: object) -> None:
        self._line.clear()
