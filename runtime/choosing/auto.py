"""`schedule="auto"`: the tuning database, else a cost model, else `default`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial

from ...costmodel.find import AUTO_MODEL, find_model
from ...costmodel.label_coverage import rare_steps
from ...dialects.errors import SourceError
from ...passes.default.default_schedule import default_schedule, is_profitable
from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule
from ...passes.search.beam import BeamSearch
from ...passes.search.result import Task
from ...passes.search.searching import explored
from ...passes.search.unanimity import unanimous_choice
from .database import Question, default_database

BEAM = 3

SECONDS = 2.0
"""Somebody who did not ask for tuning does not wait longer for a model."""

GAIN = 1.35
"""A schedule that was not run must be predicted to be so much faster than the default one.

By every member of a model that has several.
"""


def auto_schedule(
    original: Schedule, question: Question, default: Callable[[], Schedule]
) -> Schedule:
    """The tuned schedule, else one that the model prefers to the default schedule, else that one.

    A tuned schedule that does not apply any more is left out, with a warning. Raises SourceError.
    """
    found = tuned_schedule(original, question)
    if found is not None:
        return found
    return modelled_schedule(original, question.sizes, question.threads, AUTO_MODEL, default)


def tuned_schedule(original: Schedule, question: Question) -> Schedule | None:
    """What the database has, if it can be applied."""
    database = default_database()
    found = None if database is None else database.get(question)
    if database is None or found is None:
        return None
    try:
        return found.apply(original)
    except (SourceError, TransformationError) as error:
        warnings.warn(
            f"{question.function}: the tuned schedule in {database.path} does not apply any more "
            f"and is ignored ({str(error).splitlines()[0]}); tune again",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def modelled_schedule(
    original: Schedule,
    sizes: Mapping[str, int],
    threads: int,
    model: str | None,
    choose: Callable[[], Schedule] | None = None,
) -> Schedule:
    """What a beam search with a model, if any, finds clearly better than the default.

    `choose` gives that, by default the analytical choice. It also stays where it has steps that
    the model has hardly seen.
    """
    default = (choose or partial(_analytical, original, sizes, threads))()
    context = SchedulingContext(sizes, threads)
    if model is None or rare_steps(default, context) or not is_profitable(original, context):
        return default
    task = Task(original, context, find_model(model), budget=SECONDS)
    return unanimous_choice(explored(BeamSearch(BEAM), task), default, GAIN)


def _analytical(original: Schedule, sizes: Mapping[str, int], threads: int) -> Schedule:
    return default_schedule(
        original.program,
        sizes,
        original.target,
        threads=threads,
        reassociate=original.reassociate,
    )
