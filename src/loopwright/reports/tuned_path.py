"""Predicted and measured speed-ups after each step of a schedule."""

from __future__ import annotations

from collections.abc import Sequence

from ..costmodel.find import find_model
from ..costmodel.learning.examples import Unsupported
from ..costmodel.model_names import DEFAULT_MODEL
from ..passes.estimate.estimate import Roofline
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.polyhedral.isl_context import ISL_LOCK
from ..passes.schedules.schedule import Schedule
from ..passes.search.result import PathStep
from ..runtime.program import Function
from ..runtime.tuning.evaluator import RunningEvaluator, Substitute
from ..runtime.tuning.trial_messages import Comparison

SECONDS = 30.0
"""What measuring all steps may take."""


def predicted_path(states: Sequence[Schedule], context: SchedulingContext) -> list[PathStep]:
    """The steps to a schedule, as the cost model of searches predicts, else the analytical one.

    `states` are the program as written, and the schedules after each step.
    """
    with ISL_LOCK:
        try:
            speedups = find_model(DEFAULT_MODEL).predict(context, states)
        except Unsupported:
            speedups = Roofline().predict(context, states)
    texts = ["as written", *map(str, states[-1].transformations)]
    return [
        PathStep(text, float(speedup), None) for text, speedup in zip(texts, speedups, strict=True)
    ]


def measured_path(
    path: Sequence[PathStep],
    states: Sequence[Schedule],
    context: SchedulingContext,
    function: Function,
    values: Sequence[object],
    comparison: Comparison | None,
) -> list[PathStep]:
    """The same steps as they run, as far as there is time for; raises EvaluationError."""
    fast_math = states[0].reassociate
    with RunningEvaluator(
        function,
        values,
        threads=context.threads,
        fast_math=fast_math,
        comparison=comparison,
        substitute=Substitute.default(function, context, SECONDS, fast_math=fast_math),
    ) as evaluator:
        speedups = evaluator.measure(context, states, SECONDS)
    # What cannot be run has the speed-up 0.
    known = [*(speedup or None for speedup in speedups), *[None] * len(path)]
    return [
        PathStep(step.step, step.predicted, speedup)
        for step, speedup in zip(path, known, strict=False)
    ]
