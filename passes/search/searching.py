"""Driver of searches: runs one until its end or budget."""

from __future__ import annotations

from contextlib import suppress

from ...support.garbage_collection import garbage_collected_seldom
from ..default.default_schedule import is_profitable
from ..polyhedral.isl_context import ISL_LOCK
from .algorithm import Search
from .remeasurement import SHARE, remeasure_finalists
from .result import Ended, Result, Task
from .search_state import OutOfTime, SearchState
from .unanimity import unanimous_choice

GAIN = 1.1
"""Where nothing is run, another schedule must be predicted to be so much faster than the default
one, by every member of a model that has several."""


def explored(how: Search, task: Task) -> SearchState:
    """What a search has met when it comes to its end, or its time is up; nothing is confirmed."""
    state = SearchState(task)
    with garbage_collected_seldom(), suppress(OutOfTime):
        state.predict([task.original])
        how.explore(state)
    return state


def search(how: Search, task: Task) -> Result:
    """The best schedule that a search finds; Ctrl-C ends it with the best so far.

    Where schedules can be run, the result is no slower than the default schedule. Where they
    cannot, every member of the model takes it to be clearly faster, or it is the default schedule;
    a program with little work stays as it was written.
    """
    with garbage_collected_seldom():
        return _search(how, task)


def _search(how: Search, task: Task) -> Result:
    state = SearchState(task)
    ended: Ended = "done"
    with ISL_LOCK:
        statistics = task.context.statistics(task.original.scop)
        does_nothing = not any(each.instances for each in statistics.statements.values())
        does_little = not is_profitable(task.original, task.context)
    if does_nothing:
        return state.result(ended)
    if task.evaluator is None and task.ranker is None and does_little:
        state.remarks.append(
            "as written: the program does too little for a model to know what makes it faster (a "
            "budget for runs would tell)"
        )
        return state.result(ended)
    try:
        try:
            state.predict([task.original])
            with state.keep_back(SHARE if task.evaluator is not None else 0.0):
                how.explore(state)
        except OutOfTime:
            ended = "time"
        if task.evaluator is not None:
            if ended == "time":
                state.note_idleness()
            state.measure_one()
            remeasure_finalists(state)
        elif not state.is_chosen:
            _choose_unmeasured(state)
    except KeyboardInterrupt:
        ended = "interrupted"
    return state.result(ended)


def _choose_unmeasured(state: SearchState) -> None:
    default = state.default_schedule
    (liked, *_) = state.ranked()
    chosen = unanimous_choice(state, default, GAIN)
    if chosen is default and state.key(liked) != state.key(default):
        state.remarks.append(
            f"the default schedule: of no other one the model is sure that it is {GAIN:g} times as "
            "fast (a budget for runs would tell)"
        )
    state.choose(chosen)
