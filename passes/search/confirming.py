"""The last word: the best few schedules and the default one, run in turns."""

from __future__ import annotations

from contextlib import suppress

from ..schedule import Schedule
from .ledger import Ledger, OutOfTime

FINALISTS = 3
FEWEST = 2
"""However little time there is: the fastest, and the next one or what is known from before."""

ROUNDS = 5
"""Turns in which they run, as far as there is time."""

SHARE = 0.15
"""Of the budget is kept for this."""

FEWEST_ROUNDS = 2
"""With fewer turns, none takes the place of the default one."""

GAIN = 1.02
"""A schedule must be so much faster than the default one to take its place."""


def confirm(ledger: Ledger) -> None:
    """Chooses the fastest schedule in the time that is left; the default one, unless it is slower.

    Only what is measured in these turns counts: some are finalists because an earlier run was short
    by chance. Where the default schedule was not run, or cannot be, nothing is known to be faster;
    but where that is the program as written, and was ended, what can be run to its end is
    preferred.
    """
    default = ledger.default_schedule
    key = ledger.key(default)
    finalists = _finalists(ledger)
    others = [schedule for schedule in finalists if ledger.key(schedule) != key]
    others = others[: max(FEWEST, ledger.runs_left // FEWEST_ROUNDS - 1)]
    rounds = 0
    with suppress(OutOfTime):
        for _ in range(ROUNDS):
            ledger.repeat([default, *others])
            rounds += 1
    is_known = rounds >= FEWEST_ROUNDS
    if is_known:
        ledger.count_last(rounds, [default, *others])
    fastest = max(others, key=ledger.measured_speedup, default=default)
    usual = ledger.measured_speedup(default)
    was_ended = not default.transformations and key in ledger.measured and not usual
    is_faster = ledger.measured_speedup(fastest) > GAIN * usual
    may_be_chosen = was_ended or (is_known and usual > 0)
    ledger.default = default
    ledger.choose(fastest if is_faster and may_be_chosen else default)
    in_turns = {key, *map(ledger.key, others)}
    ledger.beats_known = is_known and in_turns.issuperset(map(ledger.key, ledger.task.known))


def _finalists(ledger: Ledger) -> list[Schedule]:
    """The fastest so far, each once; what is known from before is asked for right after the first.

    With little time, the last ones are left out.
    """
    fastest = (ledger.proven() or ledger.ranked())[:FINALISTS]
    wanted = [*fastest[:1], *ledger.task.known, *fastest[1:]]
    return list({ledger.key(schedule): schedule for schedule in wanted}.values())
