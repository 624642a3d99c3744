"""Final re-measurement of the finalists, in turns with the default schedule."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from statistics import median

from ..schedules.schedule import Schedule
from .search_state import OutOfTime, SearchState

FINALISTS = 3

Turn = tuple[float, float]
"""What was measured of a schedule, and right before or after that of the default one."""

DUELS = 9
"""Turns of a schedule and the default one, as far as there is time."""

FEWEST_DUELS = 2
"""With fewer of them, nothing takes the place of the default schedule."""

LOST = 0.25
"""A schedule may be slower than the default one in so many of the turns: machines are noisy."""

SHARE = 0.15
"""Of the budget is kept for this."""

GAIN = 1.02
"""A schedule must be so much faster than the default one to take its place."""


def remeasure_finalists(state: SearchState) -> None:
    """Chooses the fastest schedule that is faster than the default one in nearly all turns.

    Only these turns count: it is the fastest so far also because runs were short by chance. Where
    the default schedule was not run, or cannot be, nothing is known to be faster; but where that is
    the program as written, and was ended, what can be run to its end is preferred.
    """
    default = state.default_schedule
    others = _finalists(state)
    chosen = default
    refuted: list[Schedule] = []
    with suppress(OutOfTime):
        if state.runs_left > len(others) + 2 * FEWEST_DUELS:
            # Some have run only once, and long ago.
            state.repeat([default, *others])
        for other in sorted(others, key=state.measured_speedup, reverse=True):
            turns = _duel(state, other)
            if _is_faster(turns):
                chosen = other
                state.count_only(other, [own for own, _ in turns])
                state.count_only(default, [usual for _, usual in turns])
                break
            if len(turns) >= FEWEST_DUELS:
                refuted.append(other)
            state.check_time()
    if not default.transformations and state.fails(default):
        fastest = max(others, key=state.measured_speedup, default=default)
        chosen = fastest if state.measured_speedup(fastest) > 0 else default
    state.choose(chosen)
    state.beats_known = all(
        known in (chosen, *refuted) or _is_beaten(state, known, chosen)
        for known in _several(state, state.task.known)
    )


def _duel(state: SearchState, schedule: Schedule) -> list[Turn]:
    """Turns of a schedule and the default one, until it has lost too many or the time is up."""
    default = state.default_schedule
    turns: list[Turn] = []
    with suppress(OutOfTime):
        while len(turns) < DUELS and sum(own <= usual for own, usual in turns) <= LOST * DUELS:
            pair = [default, schedule]
            # Who runs first finds other things in the caches.
            state.repeat(pair if len(turns) % 2 else pair[::-1])
            own, usual = (state.measured[state.key(each)][-1] for each in (schedule, default))
            turns.append((own, usual))
            if not usual:
                break
    return turns


def _is_faster(turns: list[Turn]) -> bool:
    """Whether these turns show that a schedule is faster than the default one."""
    if len(turns) < FEWEST_DUELS or not all(usual for _, usual in turns):
        return False
    gains = sorted(own / usual for own, usual in turns)
    is_shorter = median(own for own, _ in turns) > median(usual for _, usual in turns)
    return is_shorter and gains[int(LOST * len(gains))] > 1 and median(gains) > GAIN


def _is_beaten(state: SearchState, known: Schedule, chosen: Schedule) -> bool:
    """Whether a schedule fails, or was slower than one that has won its turns."""
    speedup = state.measured_speedup(known)
    has_won = chosen is not state.default_schedule
    return state.fails(known) or (has_won and 0 < speedup <= state.measured_speedup(chosen))


def _finalists(state: SearchState) -> list[Schedule]:
    """The fastest so far, and what is known from before, but for the default schedule."""
    fastest = (state.proven() or state.ranked())[:FINALISTS]
    wanted = _several(state, [*fastest, *state.task.known])
    return [each for each in wanted if each is not state.default_schedule]


def _several(state: SearchState, schedules: Iterable[Schedule]) -> list[Schedule]:
    """Different schedules, as the ledger has them."""
    return list(dict.fromkeys(map(state.entered, schedules)))
