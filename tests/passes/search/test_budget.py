"""Searches that run candidates, with an evaluator whose answers are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, log

import pytest
from support.searching import Wishes, task

from loopwright.costmodel.papers.tiramisu2021.mcts import MonteCarloSearch
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search import search_state
from loopwright.passes.search.algorithm import Search
from loopwright.passes.search.beam import BeamSearch
from loopwright.passes.search.correction import Correction
from loopwright.passes.search.hybrid import HybridSearch
from loopwright.passes.search.remeasurement import FINALISTS
from loopwright.passes.search.search_state import OutOfTime, SearchState
from loopwright.passes.search.searching import search
from loopwright.passes.syntax.pipeline import parse_pipeline


class Runs:
    """Answers like a machine would, by a rule."""

    def __init__(self, rule: Callable[[Schedule], float]) -> None:
        self._rule = rule
        self.asked: list[str] = []

    def measure(
        self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
    ) -> list[float]:
        self.asked += map(str, schedules)
        return [self._rule(schedule) for schedule in schedules]


def likes_tiles(schedule: Schedule) -> float:
    """What the model does not know: tiles are what counts, and what it likes is slow."""
    return 3.0 if "tile{" in str(schedule) else 0.5


@pytest.mark.parametrize(
    "how", [HybridSearch(beam=2, batches=2), BeamSearch(beam=2, execution=True)]
)
def test_what_was_measured_counts(how: HybridSearch | BeamSearch) -> None:
    runs = Runs(likes_tiles)
    result = search(how, replace(task(Wishes()), evaluator=runs))
    assert result.measured == 3.0
    assert "tile{" in str(result.best)


@pytest.mark.parametrize("improves", [False, True])
def test_a_search_says_that_more_time_is_useless(
    improves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def rule(schedule: Schedule) -> float:
        nonlocal now
        now += 0.5
        return now if improves else 1.0

    monkeypatch.setattr(search_state.time, "monotonic", lambda: now)
    runs = Runs(rule)
    result = search(HybridSearch(beam=2), replace(task(Wishes(), budget=40.0), evaluator=runs))
    assert any("more time would hardly help" in each for each in result.remarks) != improves


def test_monte_carlo_runs_its_best() -> None:
    runs = Runs(lambda schedule: 2.0 if "parallel" in str(schedule) else 0.1)
    how = MonteCarloSearch(iterations=15, measured=5)
    result = search(how, replace(task(Wishes()), evaluator=runs))
    assert result.measured == 2.0
    assert len(set(runs.asked)) <= 5 + 1


def test_nothing_replaces_the_default_schedule_that_is_not_faster() -> None:
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)
    runs = Runs(lambda schedule: 2.0 if str(schedule) == default else 1.9)
    result = search(HybridSearch(beam=2, batches=1), replace(given, evaluator=runs))
    assert str(result.best) == default
    assert result.default == result.measured == 2.0


def test_what_cannot_be_run_is_not_chosen() -> None:
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)
    runs = Runs(lambda schedule: 1.0 if str(schedule) == default else 0.0)
    result = search(HybridSearch(beam=2, batches=1), replace(given, evaluator=runs))
    assert str(result.best) == default


def test_the_default_schedule_stays_where_it_cannot_be_checked() -> None:
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)
    runs = Runs(lambda schedule: 0.0 if str(schedule) == default else 1.0)
    result = search(HybridSearch(beam=2, batches=1), replace(given, evaluator=runs))
    assert str(result.best) == default


def test_a_program_that_was_ended_is_not_chosen_while_the_default_schedule_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = task(Wishes())
    monkeypatch.setattr(SearchState, "default_schedule", given.original)
    runs = Runs(lambda schedule: 0.5 if schedule.transformations else 0.0)
    result = search(HybridSearch(beam=2, batches=1), replace(given, evaluator=runs))
    assert result.best.transformations
    assert result.measured == 0.5


def test_a_program_that_was_not_run_is_not_taken_for_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(Runs):
        def measure(
            self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
        ) -> list[float]:
            known = [schedule for schedule in schedules if schedule.transformations]
            return super().measure(context, known if len(known) == len(schedules) else [])

    given = task(Wishes())
    monkeypatch.setattr(SearchState, "default_schedule", given.original)
    how = BeamSearch(beam=2, execution=True)
    result = search(how, replace(given, evaluator=Refusing(lambda _: 0.5)))
    assert not result.best.transformations


def test_an_interrupt_while_running_gives_the_best_that_was_run() -> None:
    def rule(schedule: Schedule) -> float:
        if len(runs.asked) > 10:
            raise KeyboardInterrupt
        return likes_tiles(schedule)

    runs = Runs(rule)
    result = search(HybridSearch(beam=2), replace(task(Wishes()), evaluator=runs))
    assert result.ended == "interrupted"
    assert result.measured is not None


@pytest.mark.parametrize("how", [MonteCarloSearch(iterations=15), HybridSearch(beam=2)])
def test_an_interrupt_does_not_say_that_the_default_schedule_is_slower(how: Search) -> None:
    """It said nothing of it, and what was slower was kept for `auto`."""
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)

    def rule(schedule: Schedule) -> float:
        if len(runs.asked) > 10:
            raise KeyboardInterrupt
        return 0.9 if str(schedule) == default else 0.3

    runs = Runs(rule)
    result = search(how, replace(given, evaluator=runs))
    assert result.ended == "interrupted"
    assert result.default == (0.9 if default in runs.asked[:-1] else None)


def test_an_interrupt_does_not_give_what_fails() -> None:
    def rule(schedule: Schedule) -> float:
        if len(runs.asked) > 10:
            raise KeyboardInterrupt
        return 0.0

    runs = Runs(rule)
    how = MonteCarloSearch(iterations=15, measured=20)
    result = search(how, replace(task(Wishes()), evaluator=runs))
    assert result.ended == "interrupted"
    assert result.measured is None
    assert str(result.best) not in runs.asked[: result.measurements]


def test_a_schedule_that_was_fast_once_by_chance_is_not_chosen() -> None:
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)

    def rule(schedule: Schedule) -> float:
        text = str(schedule)
        return 2.0 if text == default else 9.0 if runs.asked.count(text) == 1 else 1.0

    runs = Runs(rule)
    result = search(HybridSearch(beam=2, batches=1), replace(given, evaluator=runs))
    assert str(result.best) == default
    assert result.measured == result.default == 2.0


def test_one_turn_beside_the_default_schedule_is_not_enough() -> None:
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)
    how = MonteCarloSearch(iterations=15, measured=5)

    def rule(schedule: Schedule) -> float:
        return 1.0 if str(schedule) == default else 3.0

    lengths = [5 + 1 + FINALISTS + 2 * turns for turns in (1, 2)]
    found = [search(how, replace(given, evaluator=SlowRuns(rule, each))) for each in lengths]
    assert [str(each.best) == default for each in found] == [True, False]


@pytest.mark.parametrize(("lost", "is_taken"), [(2, True), (3, False)])
def test_a_schedule_must_win_nearly_all_turns(lost: int, is_taken: bool) -> None:
    """On a noisy machine, a few turns that are won by far say nothing."""
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)

    def rule(schedule: Schedule) -> float:
        text = str(schedule)
        if text == default:
            return 1.0
        if text != "parallel{loops=i}":
            return 0.5
        return 0.9 if 2 < runs.asked.count(text) <= 2 + lost else 3.0

    runs = Runs(rule)
    known = (given.original.apply_all(parse_pipeline("parallel{loops=i}")),)
    how = HybridSearch(beam=2, batches=1)
    result = search(how, replace(given, evaluator=runs, known=known))
    assert (str(result.best) != default) == is_taken
    assert result.beats_known


def test_what_is_known_from_before_runs_beside_the_others() -> None:
    given = task(Wishes())
    known = given.original.apply_all(parse_pipeline("interchange{loops=k,j,i}"))
    runs = Runs(lambda schedule: 5.0 if str(schedule) == str(known) else 1.0)
    how = MonteCarloSearch(iterations=15, measured=5)
    result = search(how, replace(given, evaluator=runs, known=(known,)))
    assert str(result.best) == str(known)
    assert result.beats_known
    too_little = replace(given, evaluator=SlowRuns(lambda _: 1.0, 5), known=(known,))
    assert not search(how, too_little).beats_known


def test_what_is_known_from_before_is_not_beaten_by_who_has_not_run_beside_it() -> None:
    """Another one was fast at first, and lost its turns: the known one has its own."""
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)

    def rule(schedule: Schedule) -> float:
        text = str(schedule)
        if text in ("interchange{loops=k,j,i}", default):
            return 1.5 if text != default else 1.0
        return 9.0 if runs.asked.count(text) <= 2 else 0.5

    runs = Runs(rule)
    known = (given.original.apply_all(parse_pipeline("interchange{loops=k,j,i}")),)
    how = MonteCarloSearch(iterations=15, measured=5)
    result = search(how, replace(given, evaluator=runs, known=known))
    assert str(result.best) == str(known[0])
    assert result.measured == 1.5 and result.beats_known


def test_what_is_known_from_before_and_fails_is_given_up() -> None:
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)
    known = (given.original.apply_all(parse_pipeline("interchange{loops=k,j,i}")),)

    def rule(schedule: Schedule) -> float:
        text = str(schedule)
        return 0.0 if text == str(known[0]) else 1.0 if text == default else 3.0

    how = MonteCarloSearch(iterations=15, measured=5)
    result = search(how, replace(given, evaluator=Runs(rule), known=known))
    assert result.measured == 3.0 and result.beats_known


def test_an_interrupt_in_the_last_check_does_not_say_that_the_default_schedule_is_slower() -> None:
    given = task(Wishes())
    default = str(SearchState(given).default_schedule)

    def rule(schedule: Schedule) -> float:
        if str(schedule) == default:
            raise KeyboardInterrupt
        return 0.3

    class Likes(Wishes):
        def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[float]:
            rates = super().predict(context, schedules)
            return [0.0 if str(s) == default else r for s, r in zip(schedules, rates, strict=True)]

    how = MonteCarloSearch(iterations=15, measured=3)
    result = search(how, replace(given, model=Likes(), evaluator=Runs(rule)))
    assert result.ended == "interrupted"
    assert result.measured == 0.3
    assert result.default is None


class SlowRuns(Runs):
    """A machine that has time for so many runs in all."""

    def __init__(self, rule: Callable[[Schedule], float], count: int) -> None:
        super().__init__(rule)
        self.left = count

    def measure(
        self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
    ) -> list[float]:
        count = min(self.left, len(schedules))
        self.left -= count
        return super().measure(context, schedules[:count])


def test_a_spent_budget_is_told() -> None:
    runs = SlowRuns(likes_tiles, 14)
    result = search(HybridSearch(beam=2), replace(task(Wishes()), evaluator=runs))
    assert result.ended == "time"
    assert result.measured == 3.0


def test_the_default_schedule_is_known_however_little_time_there_is() -> None:
    usual = SearchState(task(Wishes())).default_schedule
    assert usual.transformations
    given = replace(task(Wishes()), evaluator=SlowRuns(likes_tiles, 0), budget=1e-9)
    result = search(HybridSearch(beam=2), given)
    assert result.ended == "time"
    assert str(result.best) == str(usual)


def test_without_a_run_the_default_schedule_stays() -> None:
    given = replace(task(Wishes()), evaluator=SlowRuns(likes_tiles, 0), budget=60.0)
    result = search(HybridSearch(beam=2), given)
    assert result.ended == "time"
    assert result.measured is None
    assert str(result.best) == str(SearchState(given).default_schedule)


@pytest.mark.parametrize(
    "how", [HybridSearch(beam=2, batches=2), BeamSearch(beam=2, execution=True)]
)
def test_however_little_time_there_is_one_schedule_is_measured(how: Search) -> None:
    class Busy(Runs):
        """A machine that has not even started when the time is up."""

        def measure(
            self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
        ) -> list[float]:
            return super().measure(context, schedules) if seconds == inf else []

    result = search(how, replace(task(Wishes(), budget=1e-3), evaluator=Busy(likes_tiles)))
    assert (result.measurements, result.ended) == (1, "time")
    assert result.measured == result.default == likes_tiles(result.best)


def test_time_is_kept_for_the_last_word() -> None:
    state = SearchState(task(Wishes(), budget=100.0))
    with state.keep_back(0.15):
        assert 84 < state.seconds_left < 85
        with pytest.raises(OutOfTime), state.keep_back(1.0):
            state.check_time()
    assert state.seconds_left > 99


def test_a_part_of_the_time_is_no_shorter_for_what_is_kept_back() -> None:
    state = SearchState(task(Wishes(), budget=100.0))
    with state.keep_back(0.15):
        with state.at_most(10.0):
            assert 9 < state.seconds_left <= 10
        with state.at_most(1000.0):
            assert 84 < state.seconds_left < 85


def test_with_a_budget_the_model_is_asked_before_anything_is_run() -> None:
    given = replace(task(Wishes()), evaluator=SlowRuns(likes_tiles, 0), budget=600.0)
    model_alone = search(BeamSearch(2), task(Wishes()))
    assert search(HybridSearch(beam=2), given).predictions >= model_alone.predictions


def test_errors_of_similar_schedules_are_alike() -> None:
    start = task(Wishes()).original

    def apply(text: str) -> Schedule:
        return start.apply_all(parse_pipeline(text))

    slow, fast = apply("tile{loops=i,j sizes=8,8}"), apply("interchange{loops=j,i}")
    correction = Correction([slow, fast], [4.0, 1.0], [1.0, 1.0])
    similar = apply("tile{loops=i,j sizes=8,8},parallel{loops=it}")
    other = apply("reverse{loops=i}")
    mean, deviation = correction.expect([slow, similar, other], [4.0, 4.0, 4.0])
    assert mean[0] == pytest.approx(0.0, abs=0.05)
    assert mean[0] < mean[1] < mean[2] < log(4.0)
    assert deviation[0] < deviation[1] < deviation[2]
