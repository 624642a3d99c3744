"""Choice of the registers of a vector: more, where chains of operations wait for each other."""

from __future__ import annotations

from collections.abc import Iterable

from ..estimate.estimate import estimate
from ..estimate.scheduling_context import SchedulingContext
from ..schedules.schedule import Schedule

REGISTERS = 1, 2, 4
"""Registers of a vector of sums, and of what loops inside compute from earlier iterations."""

WIDER = 0.8
"""Sums in more registers must be estimated to take this part of the time: others wait for these."""

LONGER = 0.95
"""The same for other chains of operations, which are longer."""


def widest_worth_it(
    answers: Iterable[Schedule], context: SchedulingContext, *, adds_up: bool
) -> Schedule:
    """Of schedules whose vectors become wider, the last one that is clearly better than before."""
    best, *wider = dict.fromkeys(answers)
    least = estimate(best, context) if wider else 0.0
    for answer in wider:
        seconds = estimate(answer, context)
        if seconds < (WIDER if adds_up else LONGER) * least:
            best, least = answer, seconds
    return best
