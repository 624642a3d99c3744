"""Shift statements along a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import Loop, Tree
from ..schedules.marks import mark
from ..schedules.schedule import Schedule
from ..schedules.tiling import reschedule
from ..schedules.transformation import MalformedTransformation, Transformation, option


@dataclass(frozen=True)
class Shift(Transformation):
    """Adds a constant to the value of a loop, for all statements in it or for some of them.

    `shift{loops=i offset=1 statements=S1}`:

        for i in [0, N):            for i in [0, N]:
          S0[i]             ->        if i < N: S0[i]
          S1[i]                       if i > 0: S1[i - 1]
    """

    name: ClassVar[str] = "shift"
    symbol: ClassVar[str] = "H"

    offset: int = option("how far", keyword="by")
    statements: tuple[str, ...] = option("the statements to shift, by default all", default=())

    def rewrite(self, schedule: Schedule) -> Tree:
        if self.offset == 0:
            raise MalformedTransformation("the offset must not be 0")
        return mark(schedule, self.loops, self._shift)

    def _shift(self, loop: Loop) -> Loop:
        for name in self.statements:
            if name not in loop.schedule:
                raise MalformedTransformation(
                    f"there is no statement {name} in loop {loop.name}, only "
                    f"{', '.join(loop.schedule)}"
                )
        return reschedule(
            loop,
            {
                name: aff.add_constant_val(isl.Val(self.offset))
                if not self.statements or name in self.statements
                else aff
                for name, aff in loop.schedule.items()
            },
        )
