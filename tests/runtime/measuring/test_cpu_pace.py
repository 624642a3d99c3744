"""Labels are not made while the CPU is slower than usual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import pytest

from loopwright.runtime.labelling.measurer import MOST_UNSTEADY, Measurer
from loopwright.runtime.labelling.policy import Policy
from loopwright.runtime.measuring import cpu_pace as watching
from loopwright.runtime.measuring.cpu_pace import PATIENCE, PAUSE, PaceWatch


class Clock:
    """A clock of which each reference takes the next of some times, the last one for ever."""

    def __init__(self, seconds: Sequence[float]) -> None:
        self._now = 0.0
        self._seconds = self._steps(seconds)

    def _steps(self, seconds: Sequence[float]) -> Iterator[float]:
        for each in seconds:
            yield 0.0
            yield each
        while True:
            yield 0.0
            yield seconds[-1]

    def perf_counter(self) -> float:
        self._now += next(self._seconds)
        return self._now


def test_what_takes_longer_than_usual_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "time", Clock([1e-4] * 10 + [1.5e-4, 1.01e-4]))
    watch = PaceWatch()
    assert all(watch.is_steady() for _ in range(10))
    assert not watch.is_steady()
    assert watch.is_steady()


def test_another_speed_becomes_usual_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "time", Clock([1e-4] * 10 + [1.5e-4]))
    watch = PaceWatch()
    found = [watch.is_steady() for _ in range(10 + watching.KEPT)]
    assert not found[10]
    assert found[-1]


class Answers(PaceWatch):
    """Says whether the CPU is steady as it was told, the last answer for ever."""

    def __init__(self, answers: Sequence[bool]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def is_steady(self) -> bool:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(
    ("answers", "waits"), [([True], 0.0), ([False, False, True], 2 * PAUSE), ([False], PATIENCE)]
)
def test_a_slow_cpu_is_waited_for_but_not_for_ever(
    answers: list[bool], waits: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = [0.0]
    clock = SimpleNamespace(perf_counter=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr(watching, "time", clock)
    Answers(answers).wait()
    assert waits <= sum(slept) < waits + 2 * PAUSE


@pytest.mark.parametrize(
    ("answers", "turns"),
    [([True], 1), ([False, True], 2), ([False] * MOST_UNSTEADY, MOST_UNSTEADY)],
)
def test_runs_are_made_again_where_the_cpu_was_slow(
    answers: list[bool], turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Policy()
    measurer = Measurer(policy, [0])
    monkeypatch.setattr(Answers, "wait", lambda _: None)
    measurer._watch = Answers(answers)  # pyright: ignore[reportPrivateUsage]
    seconds: list[float] = []

    def call() -> float:
        seconds.append(policy.budget * (1 + len(seconds)))
        return seconds[-1]

    found, is_censored = measurer._repeat_steadily(call, policy.budget, None)  # pyright: ignore[reportPrivateUsage]
    assert not is_censored
    assert found == tuple(seconds[-policy.least_runs :])
    assert len(seconds) == turns * policy.least_runs


def test_long_runs_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answers, "wait", lambda _: None)
    policy = Policy()
    measurer = Measurer(policy, [0])
    measurer._watch = Answers([False])  # pyright: ignore[reportPrivateUsage]
    found, _ = measurer._repeat_steadily(lambda: 1.0, 1.0, None)  # pyright: ignore[reportPrivateUsage]
    assert found == (1.0,) * policy.least_runs
    assert measurer._watch.asked == 1  # pyright: ignore[reportPrivateUsage]
