"""Skew loops with respect to a loop around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import Loop, Tree, loops
from ..schedules.marks import change_loops
from ..schedules.schedule import Schedule
from ..schedules.tiling import reschedule
from ..schedules.transformation import MalformedTransformation, Transformation, option


@dataclass(frozen=True)
class Skew(Transformation):
    """Adds a multiple of the first loop's value to those of loops inside it.

    The order stays the same, but dependences with a negative distance along the inner loops get
    a positive one, so that tiles become legal. `skew{loops=t,i factors=1}`:

        for t:                  for t:
          for i in [0, N): ->     for i in [t, N + t):
            S[t, i]                 S[t, i - t]
    """

    name: ClassVar[str] = "skew"
    symbol: ClassVar[str] = "K"

    factors: tuple[int, ...] = option("one factor per inner loop", keyword="by")

    def rewrite(self, schedule: Schedule) -> Tree:
        if len(self.loops) < 2:
            raise MalformedTransformation("name a loop, and at least one loop inside it")
        if len(self.factors) != len(self.loops) - 1:
            raise MalformedTransformation(
                f"give one factor per inner loop: {len(self.loops) - 1}, not {len(self.factors)}"
            )
        if 0 in self.factors:
            raise MalformedTransformation("a factor must not be 0")
        source, *targets = schedule.find_loops(self.loops)
        changes: list[tuple[Loop, Callable[[Loop], Loop]]] = []
        for target, factor in zip(targets, self.factors, strict=True):
            if target is source or all(inner is not target for inner in loops(source)):
                raise MalformedTransformation(f"loop {target.name} is not inside {source.name}")
            changes.append((target, partial(_skew, source, factor)))
        return change_loops(schedule, changes)


def _skew(source: Loop, factor: int, target: Loop) -> Loop:
    return reschedule(
        target,
        {
            statement: aff.add(source.schedule[statement].scale_val(isl.Val(factor)))
            for statement, aff in target.schedule.items()
        },
    )
