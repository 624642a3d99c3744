"""Speed-up of one schedule, measured in turns with the program as written."""

from __future__ import annotations

from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.schedules.schedule import Schedule
from ..runtime.tuning.evaluator import RunningEvaluator

TURNS = 3
"""Of the program as written and the schedule, after the first runs of both."""

SHORT = 0.5
"""Seconds: programs that take longer have no turns, and their first runs count."""


def measure_in_turns(
    evaluator: RunningEvaluator, context: SchedulingContext, written: Schedule, scheduled: Schedule
) -> tuple[float, float]:
    """The speed-up, 0 where the schedule fails, and the seconds of the program as written.

    The shortest runs count: a machine that was busy during one turn makes neither of them slower.
    """
    (first,) = evaluator.measure(context, [scheduled])
    base = evaluator.baseline_seconds
    if not first or evaluator.bound is not None or base > SHORT:
        return first, base
    answers = evaluator.measure(context, [written, scheduled] * TURNS)
    if not all(answers):
        return min(answers[1::2]), base
    as_written = max(1.0, *answers[0::2])
    return max(first, *answers[1::2]) / as_written, base / as_written
