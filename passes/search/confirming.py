"""The last word: the best few schedules and the default one, run in turns."""

from __future__ import annotations

from ..default.default_schedule import default_schedule
from ..schedule import Schedule
from .ledger import Ledger

FINALISTS = 3

ROUNDS = 5
"""Turns in which they run."""

SHARE = 0.15
"""Of the budget is kept for this; two turns are made in any case."""

GAIN = 1.02
"""A schedule must be so much faster than the default one to take its place."""


def default_of(ledger: Ledger) -> Schedule:
    """The schedule that `default` means."""
    task = ledger.task
    return default_schedule(
        task.original.program,
        task.request.sizes,
        task.original.target,
        threads=task.request.threads,
        reassociate=task.original.reassociate,
    )


def confirm(ledger: Ledger, default: Schedule) -> None:
    """Chooses the fastest schedule; the default one, unless another is faster in most turns."""
    finalists = (ledger.proven() or ledger.ranked())[:FINALISTS]
    key = ledger.key(default)
    others = [schedule for schedule in finalists if ledger.key(schedule) != key]
    end = ledger.task.budget or float("inf")
    for turn in range(ROUNDS):
        ledger.repeat([default, *others])
        if turn > 0 and ledger.seconds > end:
            break
    fastest = max(others, key=lambda each: ledger.speedup(ledger.key(each)), default=default)
    ledger.default = default
    # Where the default schedule cannot be checked, nothing is known to be faster.
    is_faster = ledger.speedup(ledger.key(fastest)) > GAIN * ledger.speedup(key) > 0
    ledger.choose(fastest if is_faster else default)
