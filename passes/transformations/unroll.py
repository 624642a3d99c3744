"""Loop unrolling."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.schedule_tree import Loop, Tree
from ..schedules.errors import MalformedTransformation
from ..schedules.marks import mark
from ..schedules.schedule import Schedule, Transformation, option


@dataclass(frozen=True)
class Unroll(Transformation):
    """Replicates the body for `factor` iterations of a loop; for all of them by default.

    `unroll{loops=j factor=4}`:

        for j:          ->      for j in steps of 4:
          S[j]                    S[j]; S[j + 1]; S[j + 2]; S[j + 3]
    """

    name: ClassVar[str] = "unroll"
    symbol: ClassVar[str] = "U"

    factor: int = option("unroll factor, 0 for all iterations", default=0, keyword="by")

    def rewrite(self, schedule: Schedule) -> Tree:
        if self.factor < 0:
            raise MalformedTransformation(
                f"the factor must be positive, or 0 for all iterations, not {self.factor}"
            )
        return mark(schedule, self.loops, self._mark)

    def _mark(self, loop: Loop) -> Loop:
        if loop.unroll is not None:
            raise MalformedTransformation(f"loop {loop.name} is already unrolled")
        return replace(loop, unroll=self.factor)
