"""The schedules on the way to a schedule: the program as written, then one per step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from ...passes.polyhedral.scop import Scop
from ...passes.schedules.schedule import Schedule, Transformation

_Steps = tuple[Transformation, ...]


@dataclass
class History:
    """Schedules of one program that were seen, by their steps: prefixes are shared."""

    known: dict[_Steps, Schedule] = field(default_factory=dict[_Steps, Schedule])

    def replay(self, original: Schedule, steps: Iterable[Transformation]) -> Schedule:
        """`original.apply_all(steps)`, each prefix computed once; raises TransformationError."""
        schedule = self.known.setdefault((), original)
        for step in steps:
            key = (*schedule.transformations, step)
            found = self.known.get(key)
            if found is None:
                found = schedule.apply(step)
                # A step that was not resolved is found under both.
                self.known[found.transformations] = self.known[key] = found
            schedule = found
        return schedule

    def states(self, schedule: Schedule) -> tuple[Schedule, ...]:
        """The program as written, the schedule after one step, ... and the schedule itself."""
        steps = schedule.transformations
        self.known[steps] = schedule
        original = self.known.get(())
        if original is None:
            original = Schedule.original(
                schedule.program, schedule.target, reassociate=schedule.reassociate
            )
        return tuple(self.replay(original, steps[:count]) for count in range(len(steps) + 1))


def history_of(program: Scop) -> History:
    """What is known of a program's schedules; lives as long as the program."""
    return cast(History, program.memory.setdefault("history", History()))
