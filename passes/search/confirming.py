"""The last word: the best schedules run again, and the fastest in turns with the default one."""

from __future__ import annotations

from contextlib import suppress
from statistics import median

from ..schedule import Schedule
from .ledger import Ledger, OutOfTime

FINALISTS = 3

DUELS = 9
"""Turns of the fastest and the default schedule, as far as there is time."""

FEWEST_DUELS = 2
"""With fewer of them, nothing takes the place of the default schedule."""

LOST = 0.25
"""A schedule may be slower than the default one in so many of the turns: machines are noisy."""

SHARE = 0.15
"""Of the budget is kept for this."""

GAIN = 1.02
"""A schedule must be so much faster than the default one to take its place."""


def confirm(ledger: Ledger) -> None:
    """Chooses the fastest schedule, if it is faster than the default one in nearly all turns.

    Only these turns count: it is the fastest so far also because runs were short by chance. Where
    the default schedule was not run, or cannot be, nothing is known to be faster; but where that is
    the program as written, and was ended, what can be run to its end is preferred.
    """
    default = ledger.default_schedule
    key = ledger.key(default)
    ledger.default = default
    others = [schedule for schedule in _finalists(ledger) if ledger.key(schedule) != key]
    gains: list[float] = []
    fastest = default
    with suppress(OutOfTime):
        # All were measured, but some of them only once, and long ago.
        ledger.repeat([default, *others])
        fastest = max(others, key=ledger.measured_speedup, default=default)
        while fastest is not default and len(gains) < DUELS:
            pair = [default, fastest]
            # Who runs first finds other things in the caches.
            ledger.repeat(pair if len(gains) % 2 else pair[::-1])
            gains.append(_ratio(ledger, fastest, default))
    is_faster = _is_faster(gains)
    if gains:
        ledger.count_last(len(gains), [default, fastest])
    if not default.transformations and ledger.fails(default):
        fastest = max(others, key=ledger.measured_speedup, default=default)
        is_faster = ledger.measured_speedup(fastest) > 0
    ledger.choose(fastest if is_faster else default)
    known = map(ledger.key, ledger.task.known)
    ledger.beats_known = bool(gains) and all(each in ledger.measured for each in known)


def _ratio(ledger: Ledger, schedule: Schedule, default: Schedule) -> float:
    """How much faster the last run of a schedule was; 0.0 where the default one cannot be run."""
    own, usual = (ledger.measured[ledger.key(each)][-1] for each in (schedule, default))
    return own / usual if usual else 0.0


def _is_faster(gains: list[float]) -> bool:
    """Whether the turns, in each of which it was so many times as fast, show a faster schedule."""
    enough = len(gains) >= FEWEST_DUELS
    return enough and sorted(gains)[int(LOST * len(gains))] > 1 and median(gains) > GAIN


def _finalists(ledger: Ledger) -> list[Schedule]:
    """The fastest so far, and what is known from before, each once."""
    fastest = (ledger.proven() or ledger.ranked())[:FINALISTS]
    wanted = [*fastest[:1], *ledger.task.known, *fastest[1:]]
    return list({ledger.key(schedule): schedule for schedule in wanted}.values())
