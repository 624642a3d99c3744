"""The model that `default` chooses by, as a cost model: operations and bytes against limits."""

from __future__ import annotations

from collections.abc import Sequence

from ..estimate.estimate import estimate
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.context import ISL_LOCK
from ..schedules.schedule import Schedule


class Roofline:
    """Speed-ups by `passes/default/estimate.py`."""

    name = "roofline"

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[float]:
        """The estimated time of the program on one thread, over that of each schedule."""
        if not schedules:
            return []
        some = schedules[0]
        with ISL_LOCK:
            program = Schedule.original(some.program, some.target, reassociate=some.reassociate)
            base = estimate(program, SchedulingContext(context.sizes, 1))
            return [base / max(estimate(each, context), 1e-9) for each in schedules]
