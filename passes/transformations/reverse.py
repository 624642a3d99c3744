"""Loop reversal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..polyhedral.schedule_tree import Loop, Tree
from ..schedules.marks import mark
from ..schedules.schedule import Schedule, Steps, Transformation
from ..schedules.tiling import reschedule
from .expand import expanded


@dataclass(frozen=True)
class Reverse(Transformation):
    """Reverses loops: iterations run in the opposite order, over the negated values.

    `reverse{loops=i}`:

        for i in [0, N):    ->      for i in (-N, 0]:
          S[i]                        S[-i]
    """

    name: ClassVar[str] = "reverse"
    symbol: ClassVar[str] = "R"

    def rewrite(self, schedule: Schedule) -> Tree:
        return mark(schedule, self.loops, _reverse)

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from expanded(schedule, self)


def _reverse(loop: Loop) -> Loop:
    return reschedule(loop, {name: aff.neg() for name, aff in loop.schedule.items()})
