"""Split loops around several statements into several loops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.schedule_tree import (
    Loop,
    Sequence,
    Tree,
    rebuild,
    replace_node,
    sequence,
    statements,
)
from ..schedules.schedule import Schedule
from ..schedules.transformation import MalformedTransformation, Transformation, option


@dataclass(frozen=True)
class Distribute(Transformation):
    """Gives every part of the body of a loop, or of a chain of loops, loops of its own.

    The parts are what the innermost of the loops runs in sequence; `after` names statements behind
    which to cut, instead of between all parts. `distribute{loops=i}`:

        for i:                      for i:
          S0[i]             ->        S0[i]
          for j:                    for i:
            S1[i, j]                  for j:
                                        S1[i, j]
    """

    name: ClassVar[str] = "distribute"
    symbol: ClassVar[str] = "D"
    takes_run_time_tiles: ClassVar[bool] = True

    after: tuple[str, ...] = option("statements behind which to cut, by default all", default=())

    def rewrite(self, schedule: Schedule) -> Tree:
        members = schedule.chain(self.loops)
        body = members[-1].body
        if not isinstance(body, Sequence):
            raise MalformedTransformation(
                f"{members[-1].name} directly contains a single loop or statement: "
                "nothing to distribute"
            )
        parts = self._parts(body)
        copies = [rebuild(tuple(_restrict(m, part) for m in members), part) for part in parts]
        return replace_node(schedule.tree, members[0], sequence(copies))

    def _parts(self, body: Sequence) -> list[Tree]:
        groups = [statements(child) for child in body.children]
        last = {name: group[-1] for group in groups for name in group}
        known = [name for group in groups[:-1] for name in group]
        for name in self.after:
            if name not in known:
                raise MalformedTransformation(
                    f"cannot cut behind {name}: name one of {', '.join(known)}"
                )
        parts: list[list[Tree]] = [[]]
        cuts = {last[name] for name in self.after}
        for child in body.children:
            parts[-1].append(child)
            if not self.after or statements(child)[-1] in cuts:
                parts.append([])
        return [sequence(part) for part in parts if part]


def _restrict(loop: Loop, part: Tree) -> Loop:
    return replace(loop, schedule={name: loop.schedule[name] for name in statements(part)})
