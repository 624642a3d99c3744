"""Loop vectorisation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.schedule_tree import Loop, Tree, statements
from ..schedules.errors import MalformedTransformation
from ..schedules.marks import mark, on_another_loop
from ..schedules.schedule import Schedule, Steps, Transformation, option
from .distribute import distributed
from .expand import expanded
from .rfactor import privatised
from .shift import shifted_statements
from .strip_mine import StripMine
from .wavefront import wavefronts

# Wider vectors gain nothing, cost ever more time to compile, and LLVM aborts at 65536 lanes.
_WIDEST = 1024

_SUMS = 4
"""Vectors of partial results: a single one waits for each addition to end."""


@dataclass(frozen=True)
class Vectorize(Transformation):
    """Runs `width` consecutive iterations of a loop in lockstep, operation by operation.

    The width is by default what fills a vector register with the widest elements that are
    accessed. `vectorize{loops=j width=8}`:

        for i:                  for i:
          for j:        ->        for j in steps of 8:
            S[i, j]                 S[i, j], ..., S[i, j + 7] at once

    Where bounds of the loops inside, or conditions, differ between lanes, masks say which run. The
    loop stays scalar where the target has none, or these are not linear in the lane; where a
    condition has an alternative, or a loop a step from where each lane begins; and where a loop is
    generated in several pieces, or an array is allocated inside of it.
    """

    name: ClassVar[str] = "vectorize"
    symbol: ClassVar[str] = "V"

    width: int | None = option("elements per vector", default=None, keyword="by")

    def resolve(self, schedule: Schedule) -> Vectorize:
        step = super().resolve(schedule)
        if step.width is not None:
            return step
        names = {name for loop in step.loops for name in statements(schedule.loop(loop))}
        lanes = (
            schedule.target.lanes(access.array.element_type)
            for statement in schedule.scop.statements
            if statement.name in names
            for access in statement.accesses
        )
        return replace(step, width=max(2, min(lanes, default=2)))

    def rewrite(self, schedule: Schedule) -> Tree:
        if self.width is None or self.width < 2:
            raise MalformedTransformation(f"the width must be at least 2, not {self.width}")
        if self.width > _WIDEST:
            raise MalformedTransformation(f"the width must be at most {_WIDEST}, not {self.width}")
        return mark(schedule, self.loops, self._mark)

    def _mark(self, loop: Loop) -> Loop:
        if loop.vector is not None:
            raise MalformedTransformation(f"loop {loop.name} is already vectorised")
        return replace(loop, vector=self.width)

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from expanded(schedule, self)
        yield from on_another_loop(schedule, self, innermost_first=True)
        yield from shifted_statements(schedule, self)
        yield from distributed(schedule, self)
        assert self.width is not None, "it is resolved"
        for steps in privatised(schedule, self):
            yield (StripMine(self.loops, _SUMS * self.width), *steps)
        yield from wavefronts(schedule, self)
