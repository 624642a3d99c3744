"""The last word: the best few schedules and the default one, run in turns."""

from __future__ import annotations

from contextlib import suppress

from .ledger import Ledger, OutOfTime

FINALISTS = 3

ROUNDS = 5
"""Turns in which they run, as far as there is time."""

SHARE = 0.15
"""Of the budget is kept for this."""

GAIN = 1.02
"""A schedule must be so much faster than the default one to take its place."""


def confirm(ledger: Ledger) -> None:
    """Chooses the fastest schedule in the time that is left; the default one, unless it is slower.

    Where the default schedule was not run, or cannot be, nothing is known to be faster; but where
    that is the program as written, and was ended, what can be run to its end is preferred.
    """
    default = ledger.default_schedule
    key = ledger.key(default)
    finalists = (ledger.proven() or ledger.ranked())[:FINALISTS]
    others = [schedule for schedule in finalists if ledger.key(schedule) != key]
    with suppress(OutOfTime):
        for _ in range(ROUNDS):
            ledger.repeat([default, *others])
    fastest = max(others, key=ledger.measured_speedup, default=default)
    usual = ledger.measured_speedup(default)
    was_ended = not default.transformations and key in ledger.measured and not usual
    is_faster = ledger.measured_speedup(fastest) > GAIN * usual and (usual > 0 or was_ended)
    ledger.default = default
    ledger.choose(fastest if is_faster else default)
