"""Explanation of the default schedule: the best candidates, what they promise, and why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...costmodel.deciding_model import deciding_model
from ...costmodel.models.influences import influences
from ...costmodel.models.learned_model import LearnedModel
from ...passes.estimate.estimate import estimate
from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.schedules.schedule import Schedule
from ...passes.search.default_choice import MARGIN, Rated
from ..measuring.timing import format_seconds
from .default import Decision, decided

SHOWN = 3
"""Candidates, and groups of features of each."""

DECISIVE = 1.02
"""A group of features that makes less of a difference is not mentioned."""


def explain_default(original: Schedule, context: SchedulingContext) -> str:
    """How the default schedule is decided, as text of several lines; raises SourceError."""
    return "\n".join(_lines(decided(original, context, deciding_model()), context))


def _lines(decision: Decision, context: SchedulingContext) -> Iterator[str]:
    proposals = decision.proposals
    model = decision.model
    if model is None:
        yield f"by the analytical estimate, of {len(proposals.candidates)} candidates"
        yield str(decision.reason)
        return
    analytical = proposals.analytical
    yield (
        f"{len(decision.rated)} candidates rated by the model; a gain is over the analytical "
        "choice, by the least convinced member"
    )
    best = [each for each in decision.rated if each.schedule is not analytical][:SHOWN]
    with ISL_LOCK:
        as_written = estimate(proposals.original, SchedulingContext(context.sizes, threads=1))
    speedups = model.predict(context, [analytical, *(each.schedule for each in best)])
    seconds = [as_written / speedup for speedup in speedups]
    yield f"analytical choice: predicted {format_seconds(seconds[0])}: {_text(analytical)}"
    for number, (each, predicted) in enumerate(zip(best, seconds[1:], strict=True), start=1):
        promise = f"predicted {format_seconds(predicted)}, gain {each.gain:.2f}"
        yield f"{number}. {promise}: {_text(each.schedule)}"
        if isinstance(model, LearnedModel):
            yield from _reasons(model, context, each, analytical)
    number = next((k for k, e in enumerate(best, 1) if e.schedule is decision.schedule), None)
    if number is not None:
        yield f"chosen: number {number}, as its gain reaches {MARGIN:g}"
    elif best and best[0].gain >= MARGIN:
        yield "chosen: the analytical choice, as the estimate contradicts the model"
    else:
        yield f"chosen: the analytical choice, as no gain reaches {MARGIN:g}"


def _reasons(
    model: LearnedModel, context: SchedulingContext, rated: Rated, analytical: Schedule
) -> Iterator[str]:
    found = influences(model, context, rated.schedule, analytical)
    decisive = [
        f"{name} {factor:.2f}"
        for name, factor in found.items()
        if not 1 / DECISIVE < factor < DECISIVE
    ]
    if decisive:
        yield f"   times as fast by its features: {', '.join(islice(decisive, SHOWN))}"


def _text(schedule: Schedule) -> str:
    return str(schedule) or "as written"
