"""Loop distribution (fission)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ..polyhedral.schedule_tree import (
    Loop,
    Sequence,
    Tree,
    chain,
    loops,
    rebuild,
    replace_node,
    sequence,
    statements,
)
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Steps, Transformation, option
from .expand import expanded


@dataclass(frozen=True)
class Distribute(Transformation):
    """Distributes a loop, or a chain of loops, over the parts of its body.

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

    def repairs(self, schedule: Schedule) -> Iterator[Steps]:
        yield from expanded(schedule, self)
        yield from self._legal_cuts(schedule)

    def _legal_cuts(self, schedule: Schedule) -> Iterator[Steps]:
        """The same distribution with fewer parts: cuts that are legal alone are so together."""
        body = schedule.chain(self.loops)[-1].body
        steps = {name: Distribute(self.loops, (name,)) for name in _cuts(body)}
        legal = tuple(name for name, step in steps.items() if schedule.legal(step))
        if legal:
            yield (Distribute(self.loops, legal),)


def _restrict(loop: Loop, part: Tree) -> Loop:
    return replace(loop, schedule={name: loop.schedule[name] for name in statements(part)})


def _cuts(body: Tree) -> list[str]:
    """The last statement of each part but the last."""
    parts = body.children if isinstance(body, Sequence) else ()
    return [statements(part)[-1] for part in parts[:-1]]


def distributed(schedule: Schedule, illegal: Transformation) -> Iterator[Steps]:
    """The step on those loops that can take it, after what the loop contains has been separated."""
    if len(illegal.loops) != 1:
        return
    loop = schedule.loop(illegal.loops[0])
    members = chain(loop)
    if not isinstance(members[-1].body, Sequence):
        return
    names = tuple(schedule.short_name(member) for member in members)
    for after in ((), *((cut,) for cut in _cuts(members[-1].body))):
        first = Distribute(names, after)
        if not schedule.legal(first):
            continue
        parts = schedule.apply(first)
        copies = [
            parts.short_name(other)
            for other in loops(parts.tree)
            if other.name == loop.name and set(statements(other)) < set(statements(loop))
        ]
        steps = {name: replace(illegal, loops=(name,)) for name in copies}
        legal = tuple(name for name, step in steps.items() if parts.legal(step))
        if legal:
            yield (first, replace(illegal, loops=legal))
