"""A limit on the CPU time that a thread spends in isl."""

from __future__ import annotations

import threading
import time

from .abort_timer import abort_timer


class TimeLimit:
    """Aborts isl in this thread after some seconds, or at the end of a limit around this one.

    `seconds` are those of the limit that ends first.
    """

    def __init__(self, seconds: float) -> None:
        around = self._around = _current.limit
        self.seconds, self._end = seconds, time.thread_time() + seconds
        if around is not None:
            around.stop()
            if around._end < self._end:
                self.seconds, self._end = around.seconds, around._end
        _current.limit = self
        self._start()

    def stop(self) -> bool:
        """Whether isl was aborted; from here on it is not."""
        if self._timer is not None:
            self._is_over = self._timer.stop() or self._is_over
            self._timer = None
        return self._is_over

    def leave(self) -> None:
        """Ends this limit; the one around it goes on."""
        self.stop()
        _current.limit = self._around
        if self._around is not None:
            self._around._start()

    def _start(self) -> None:
        self._is_over = False
        self._timer = abort_timer()
        if self._timer is not None:
            self._timer.start(self._end)


class _Current(threading.local):
    """The innermost limit of a thread."""

    limit: TimeLimit | None = None


_current = _Current()
