"""Wavefront skewing of two loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import Loop, Tree, chain, replace_node
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Steps, Transformation, option
from ..schedules.tiling import reschedule
from .expand import expanded
from .skew import skewed


@dataclass(frozen=True)
class Wavefront(Transformation):
    """Makes the outer of two loops run over wavefronts, and the inner one along each of them.

    With factors a, b the outer loop runs over `a * t + b * i`, the inner one over `g * t + s * i`
    with `a * s - b * g = 1` and the smallest positive s: all integers are reached, each once. This
    is what the literature calls skewing (Wolf and Lam, "A loop transformation theory and an
    algorithm to maximize parallelism", 1991; the S of Tiramisu's schedules).
    `wavefront{loops=t,i factors=2,1}`:

        for t in [0, T):              for t in [0, 2 T + N - 2):
          for i in [0, N):      ->      for i with 0 <= t - i < T, 0 <= 2 i - t < N:
            S[t, i]                       S[t - i, 2 i - t]
    """

    name: ClassVar[str] = "wavefront"
    symbol: ClassVar[str] = "S"

    factors: tuple[int, ...] = option("of the outer and of the inner loop", keyword="by")

    def rewrite(self, schedule: Schedule) -> Tree:
        members = schedule.chain(self.loops)
        if len(members) != 2:
            raise MalformedTransformation("name two loops, one directly inside the other")
        if len(self.factors) != 2 or self.factors[0] < 1 or math.gcd(*self.factors) != 1:
            raise MalformedTransformation(
                "give two factors without a common divisor, the first of them positive"
            )
        if self.factors[1] == 0:
            raise MalformedTransformation("the factor of the inner loop must not be 0")
        outer, inner = members
        a, b = self.factors
        s = next(s for s in range(1, abs(b) + 1) if (a * s - 1) % b == 0)
        g = (a * s - 1) // b
        new_inner = reschedule(inner, _combine(outer, inner, g, s))
        new_outer = reschedule(replace(outer, body=new_inner), _combine(outer, inner, a, b))
        return replace_node(schedule.tree, outer, new_outer)

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from expanded(schedule, self)
        yield from skewed(schedule, self)


def _combine(outer: Loop, inner: Loop, first: int, second: int) -> dict[str, isl.Aff]:
    """`first * outer + second * inner` for each statement."""
    return {
        name: outer.schedule[name]
        .scale_val(isl.Val(first))
        .add(inner.schedule[name].scale_val(isl.Val(second)))
        for name in outer.schedule
    }


def wavefronts(schedule: Schedule, illegal: Transformation) -> Iterator[Steps]:
    """The step along wavefronts of the loop and the one around it."""
    for name in illegal.loops:
        loop = schedule.loop(name)
        pairs: list[tuple[Loop, ...]] = [chain(o)[:2] for o in (*schedule.outer(loop)[-1:], loop)]
        for pair in pairs:
            names = tuple(schedule.short_name(member) for member in pair)
            if len(names) == 2:
                step = replace(illegal, loops=names[1:])
                for factor in (1, 2, 3):
                    yield (Wavefront(names, (factor, 1)), step)
