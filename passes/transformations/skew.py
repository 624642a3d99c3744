"""Loop skewing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import Loop, Tree, chain, loops
from ..schedules.errors import MalformedTransformation
from ..schedules.marks import change_loops
from ..schedules.schedule import Schedule, Steps, Transformation, option
from ..schedules.tiling import reschedule


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


_FACTORS = (1, 2, -1, 3)


def skewed(schedule: Schedule, illegal: Transformation) -> Iterator[Steps]:
    """The step after inner loops have been skewed with respect to outer ones.

    Where the step is about one loop, inner ones are those directly inside.
    """
    found = schedule.find_loops(illegal.loops)
    members = chain(found[0]) if len(found) == 1 else found
    ordered = sorted(members, key=lambda loop: len(schedule.outer(loop)))
    names = [schedule.short_name(loop) for loop in ordered]
    for outer, inner in itertools.combinations(names, 2):
        for factor in _FACTORS:
            yield (Skew((outer, inner), (factor,)), illegal)
    if len(names) < 3:
        return
    for factors in itertools.product((1, 2), repeat=len(names) - 1):
        first = Skew(tuple(names), factors)
        second = Skew(tuple(names[1:]), (1,) * (len(names) - 2))
        yield (first, illegal)
        yield (first, second, illegal)
