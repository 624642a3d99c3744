"""Loop shifting: a statement runs some iterations later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import Loop, Tree, statements
from ..schedules.errors import MalformedTransformation
from ..schedules.marks import mark
from ..schedules.schedule import Schedule, Steps, Transformation, option
from ..schedules.tiling import reschedule


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


_OFFSETS = (1, -1, 2, -2, 3, 4)


def shifted_statements(schedule: Schedule, illegal: Transformation) -> Iterator[Steps]:
    """The step after the last statements of a loop have been shifted along it."""
    for name in illegal.loops:
        names = statements(schedule.loop(name))
        for start in range(1, len(names)):
            for offset in _OFFSETS:
                yield (Shift((name,), offset, names[start:]), illegal)


def shifted_loops(illegal: Transformation) -> Iterator[Steps]:
    """The step after all loops from one on have been shifted."""
    for start in range(1, len(illegal.loops)):
        for offset in _OFFSETS:
            yield (Shift(illegal.loops[start:], offset), illegal)
