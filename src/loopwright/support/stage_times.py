"""Compile-time profile: named stages, recorded on request.

with record_stages() as times:
    ...                        # code that runs `with stage("raise"): ...`
print(times)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class StageTimes:
    """Exclusive seconds of each stage, in the order of their start.

    `clock` tells the time; that of the process does not count the time in which it stands still.
    """

    clock: Callable[[], float] = field(default_factory=lambda: time.perf_counter)
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    total: float = 0.0
    open_stages: list[str] = field(default_factory=list[str])
    since: float = 0.0

    def switch(self) -> None:
        """Books the time since the last switch on the innermost open stage."""
        now = self.clock()
        if self.open_stages:
            self.seconds[self.open_stages[-1]] += now - self.since
        self.since = now

    def __str__(self) -> str:
        rest = self.total - sum(self.seconds.values())
        rows = [*self.seconds.items(), ("other", rest), ("total", self.total)]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {seconds * 1e3:9.2f} ms" for name, seconds in rows)


_recorder: ContextVar[StageTimes | None] = ContextVar("stages", default=None)


@contextmanager
def record_stages(times: StageTimes | None = None) -> Generator[StageTimes]:
    """Collects the stages that run inside, in this thread, adding to `times` if given.

    The time spent inside is added to `total` at the end.
    """
    times = StageTimes() if times is None else times
    token = _recorder.set(times)
    start = times.clock()
    try:
        yield times
    finally:
        times.total += times.clock() - start
        _recorder.reset(token)


@contextmanager
def stage(name: str) -> Generator[None]:
    """Adds the time spent inside to stage `name`; nearly free when nothing is recorded."""
    times = _recorder.get()
    if times is None:
        yield
        return
    times.switch()
    times.seconds.setdefault(name, 0.0)
    times.open_stages.append(name)
    try:
        yield
    finally:
        times.switch()
        times.open_stages.pop()
