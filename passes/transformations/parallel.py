"""Run the iterations of loops on several threads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.schedule_tree import Loop, Tree
from ..schedules.marks import mark
from ..schedules.schedule import Schedule
from ..schedules.transformation import MalformedTransformation, Transformation


@dataclass(frozen=True)
class Parallel(Transformation):
    """Runs the iterations of loops, none of which depends on another, on several threads.

    `parallel{loops=i}`:

        for i:                  parallel for i:
          for j:        ->        for j:
            S                       S
    """

    name: ClassVar[str] = "parallel"
    symbol: ClassVar[str] = "P"
    takes_run_time_tiles: ClassVar[bool] = True

    def rewrite(self, schedule: Schedule) -> Tree:
        return mark(schedule, self.loops, _mark)


def _mark(loop: Loop) -> Loop:
    if loop.parallel:
        raise MalformedTransformation(f"loop {loop.name} is already parallel")
    return replace(loop, parallel=True)
