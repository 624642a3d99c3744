"""A cost model without training: threads and lanes at work."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.schedules.schedule import Schedule


class Parallelism:
    """Predicts that every lane of a vector and every thread makes a program faster by so much."""

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[float]:
        """The speed-up of each schedule over its program as written, on one thread."""
        return [self._speedup(context, schedule) for schedule in schedules]

    def _speedup(self, context: SchedulingContext, schedule: Schedule) -> float:
        found = list(loops(schedule.tree))
        lanes = max((loop.vector or 1 for loop in found), default=1)
        threads = context.threads if any(loop.parallel for loop in found) else 1
        return float(lanes * threads)
