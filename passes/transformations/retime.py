"""Loop retiming: the end of a body moves to the next iteration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import islpy as isl

from ..polyhedral.schedule_tree import Loop, Sequence, Tree, sequence, statements
from ..schedules.errors import MalformedTransformation
from ..schedules.marks import mark
from ..schedules.schedule import Schedule, Transformation, option
from ..schedules.tiling import reschedule


@dataclass(frozen=True)
class Retime(Transformation):
    """Runs what is behind some statement of a body at the beginning of the next iteration.

    The order of a loop without marks stays the same, so that this is legal; the end of an
    iteration and the beginning of the next one then have a body together, and can be fused.
    `retime{loops=k after=S0}`:

        for k in [0, n):              for k in [0, n]:
          for i: S0[k, i]               if k > 0: for i: S1[k - 1, i]
          for i: S1[k, i]       ->      if k < n: for i: S0[k, i]
    """

    name: ClassVar[str] = "retime"
    symbol: ClassVar[str] = "RT"

    after: str = option("a statement of the last part that stays", default="")

    def rewrite(self, schedule: Schedule) -> Tree:
        return mark(schedule, self.loops, self._retime)

    def _retime(self, loop: Loop) -> Loop:
        parts = loop.body.children if isinstance(loop.body, Sequence) else (loop.body,)
        last = next((n for n, part in enumerate(parts) if self.after in statements(part)), None)
        if last is None or last + 1 == len(parts):
            known = [name for part in parts[:-1] for name in statements(part)]
            raise MalformedTransformation(
                f"cannot cut behind {self.after!r}: name one of {', '.join(known)}"
                if known
                else f"{loop.name} directly contains a single loop or statement: nothing to retime"
            )
        moved = statements(sequence(parts[last + 1 :]))
        body = sequence((*parts[last + 1 :], *parts[: last + 1]))
        values = {
            name: loop.schedule[name].add_constant_val(isl.Val(1 if name in moved else 0))
            for name in statements(body)
        }
        return reschedule(replace(loop, body=body), values)
