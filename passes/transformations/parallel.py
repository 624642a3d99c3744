"""Loop parallelisation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.schedule_tree import Loop, Tree
from ..schedules.errors import MalformedTransformation
from ..schedules.marks import mark, on_another_loop
from ..schedules.schedule import Schedule, Steps, Transformation
from .distribute import distributed
from .expand import expanded
from .rfactor import privatised
from .shift import shifted_statements
from .wavefront import wavefronts


@dataclass(frozen=True)
class Parallel(Transformation):
    """Runs independent iterations of loops on several threads.

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

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from expanded(schedule, self)
        yield from privatised(schedule, self)
        yield from on_another_loop(schedule, self)
        yield from shifted_statements(schedule, self)
        yield from distributed(schedule, self)
        yield from wavefronts(schedule, self)


def _mark(loop: Loop) -> Loop:
    if loop.parallel:
        raise MalformedTransformation(f"loop {loop.name} is already parallel")
    return replace(loop, parallel=True)
