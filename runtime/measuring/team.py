"""The OpenMP thread team: wake-up, and whether its threads share a cache."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections import deque
from collections.abc import Callable
from ctypes import CFUNCTYPE, c_int, c_int64
from functools import cache

from ...passes.machine.target import Target
from ..jit import object_code as jit
from ..jit.cache import cache_directory, cache_key
from ..jit.openmp import imports

FORKS = 16
"""Empty parallel regions that are timed together ..."""

ATTEMPTS = 12
"""... so many times, of which the shortest counts: interruptions make others longer."""

FAR = 1.5
"""The shortest time that is remembered, times this, is that of threads far from each other."""

KEPT = 2000
"""Times that are remembered: should threads stay far from each other, that is usual."""

_VALID = 86_400.0
"""Seconds for which the shortest time is known to later processes."""

_NEWER = 0.9
"""It is stored anew where it is shorter by so much."""

_CODE = """
declare void @GOMP_parallel(ptr, ptr, i32, i32)

define internal void @nothing(ptr %data) {
  ret void
}

define void @fork(i64 %n, i32 %threads) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void @GOMP_parallel(ptr @nothing, ptr null, i32 %threads, i32 0)
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}
"""


def wake(threads: int) -> None:
    """Runs an empty parallel region, after which its threads wait actively for the next one.

    What starts a thread that sleeps takes 10 to 50 microseconds, now more and now less.
    """
    _function()(1, threads)


class TeamWatch:
    """Whether the threads of a team share a cache, as far as they ever did.

    A host moves virtual CPUs between its own, every 1 to 190 seconds. Where two of them do not
    share the last cache, starting a parallel loop takes twice as long, and what one has written,
    the other gets later: loops that share data were seen to take up to twice as long, others have
    twice the cache.
    """

    def __init__(self, threads: int, machine: str) -> None:
        """`machine` is its fingerprint: what is known of one says nothing of another."""
        self._threads = threads
        self._shortest = _Shortest(threads, machine)
        self._known: deque[float] = deque(self._shortest.load(), maxlen=KEPT)

    def is_near(self) -> bool:
        """Whether starting the threads, one bound to each CPU, takes no longer than it can."""
        wake(self._threads)
        seconds = min(self._fork() for _ in range(ATTEMPTS))
        if seconds < _NEWER * min(self._known, default=math.inf):
            self._shortest.save(seconds)
        self._known.append(seconds)
        return seconds <= FAR * min(self._known)

    def _fork(self) -> float:
        start = time.perf_counter()
        _function()(FORKS, self._threads)
        return time.perf_counter() - start


class _Shortest:
    """The machine's shortest fork-join time today, kept on disk."""

    def __init__(self, threads: int, machine: str) -> None:
        directory = cache_directory()
        key = cache_key(machine, str(threads))
        self._path = None if directory is None else directory / f"fork-{key[:16]}.txt"

    def load(self) -> list[float]:
        """It, or nothing where it is not known."""
        with contextlib.suppress(OSError, ValueError):
            if self._path is not None and time.time() - self._path.stat().st_mtime < _VALID:
                seconds = float(self._path.read_text(encoding="ascii"))
                return [seconds] if math.isfinite(seconds) and seconds > 0 else []
        return []

    def save(self, seconds: float) -> None:
        """Stores it, where that is possible and no shorter one is known."""
        if self._path is not None and seconds < min(self.load(), default=math.inf):
            with contextlib.suppress(OSError):
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
                temporary.write_text(repr(seconds), encoding="ascii")
                temporary.replace(self._path)


@cache
def _function() -> Callable[[int, int], None]:
    return CFUNCTYPE(None, c_int64, c_int)(_loaded()["fork"])


@cache
def _loaded() -> jit.LoadedObject:
    code = jit.compile_module(_CODE, target=Target.host())
    return jit.load_object(code, ("fork",), imports())
