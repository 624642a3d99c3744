"""Code sinking into a loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.schedule_tree import (
    Sequence,
    Tree,
    loops,
    path,
    replace_node,
    sequence,
    statements,
)
from ..schedules.affine_sums import AffineSums
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Transformation, option
from ..schedules.tiling import reschedule


@dataclass(frozen=True)
class Sink(Transformation):
    """Sinks what runs beside a loop into it, where the loop has the value `at`.

    What was before the loop runs first in that iteration, what was behind it last; where the loop
    did not have that iteration, it has it then. So an imperfect nest becomes a perfect one, whose
    loops can be interchanged. `sink{loops=k at=j}`:

        for j in [0, n):              for j in [0, n):
          S0[j]                         for k in [0, j]:
          for k in [0, j):      ->        if k == j: S0[j]
            S1[j, k]                      if k < j: S1[j, k]
    """

    name: ClassVar[str] = "sink"
    symbol: ClassVar[str] = "N"

    at: str = option("the value: a sum of integers and multiples of sizes and loops around")

    def resolve(self, schedule: Schedule) -> Sink:
        step = super().resolve(schedule)
        if len(step.loops) != 1:
            raise MalformedTransformation("name one loop")
        known = AffineSums.around(schedule, schedule.loop(step.loops[0]))
        return replace(step, at=known.simplified(self.at))

    def rewrite(self, schedule: Schedule) -> Tree:
        loop = schedule.loop(self.loops[0])
        nodes = path(schedule.tree, loop)
        parent = nodes[-2] if len(nodes) > 1 else None
        if not isinstance(parent, Sequence):
            raise MalformedTransformation(f"nothing runs beside {loop.name}: nothing to sink")
        if loop.is_marked:
            raise MalformedTransformation(f"{loop.name} is marked; sink first")
        others = [child for child in parent.children if child is not loop]
        if any(inner.name == loop.name for other in others for inner in loops(other)):
            raise MalformedTransformation(f"a loop beside {loop.name} has the same name")
        known = AffineSums.around(schedule, loop)
        sunk = {
            name: known.aff(self.at, name, schedule.scop.statement(name).domain.get_space())
            for other in others
            for name in statements(other)
        }
        body = sequence(loop.body if child is loop else child for child in parent.children)
        order = {name: {**loop.schedule, **sunk}[name] for name in statements(body)}
        return replace_node(schedule.tree, parent, reschedule(replace(loop, body=body), order))
