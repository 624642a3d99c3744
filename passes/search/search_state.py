"""Search state: the evaluation log with predictions and measurements."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from statistics import median

from ..default.default_schedule import alternatives, candidates, choose, orders
from ..polyhedral.isl_context import ISL_LOCK
from ..schedules.schedule import Schedule
from .result import Ended, PathStep, Progress, Result, Task
from .schedule_key import schedule_key

BATCH = 64
"""Schedules that are predicted at a time: between two looks at the clock."""

RUNS = 8
"""Schedules that are measured at a time, at most."""

FIRST_RUNS = 2
"""The same within a budget, before it is known how long they take."""

SHARE_OF_RUNS = 0.1
"""Of the budget may go by until the next look at the clock."""

LAST_RUNS = 4
"""Runs for which time is kept back, whatever their share of the budget: two of two schedules."""

REPORT_EVERY = 0.5
"""Seconds."""

FASTER = 1.01
"""What is so many times as fast as the best so far is an improvement, not noise."""

IDLE = 0.5
"""The part of a search that brings nothing after which more of it would hardly either, ..."""

FEWEST_IDLE = 24
"""... if there were so many runs in it."""


class OutOfTime(Exception):
    """The budget of a search is exhausted."""


@dataclass(frozen=True)
class _Drawn:
    """An iterator of schedules, with those already drawn."""

    source: Iterator[Schedule]
    found: list[Schedule] = field(default_factory=list[Schedule])


class SearchState:
    """Evaluates schedules by the model and the evaluator of a task, each once.

    Schedules with the same loops are the same: steps that lead to them, and names, do not count.
    `predict` and `measure` raise OutOfTime when the budget is spent. `is_chosen` says that the
    search has chosen its result itself.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.schedules: dict[object, Schedule] = {}
        self._keys: dict[int, tuple[Schedule, object]] = {}
        self.predicted: dict[object, float] = {}
        self.measured: dict[object, list[float]] = {}
        self.beats_known = False
        self.remarks: list[str] = []
        self.is_chosen = False
        self._usual: Schedule | None = None
        self._runs = 0
        self._fastest = 0.0
        self._improved = 0.0, 0
        self._begin = self._reported = time.monotonic()
        self._limit: float = inf if task.budget is None else task.budget
        self._part: float = inf
        self._kept_back = 0.0
        self._seconds_each = 0.0
        self._orders = _Drawn(orders(task.original, task.context))
        self._candidates: _Drawn | None = None
        (self._best,) = self._enter([task.original])

    @property
    def orders(self) -> list[Schedule]:
        """Where searches start: the program's own order and others of all of it, without marks."""
        return list(dict.fromkeys(self._draw(self._orders)))

    @property
    def default_candidates(self) -> list[Schedule]:
        """The complete schedules of which `default` takes the one with the best estimate."""
        if self._candidates is None:
            task = self.task
            self._candidates = _Drawn(candidates(task.original, task.context, self.orders))
        return self._draw(self._candidates)

    def alternatives(self) -> Iterator[Schedule]:
        """Complete schedules that `default` does not think of, as long as there is time."""
        task = self.task
        for schedule in _one_by_one(alternatives(task.original, task.context, self.orders)):
            yield schedule
            self.check_time()

    @property
    def default_schedule(self) -> Schedule:
        """The schedule that `default` means, also when the time is up."""
        if self._usual is None and self.task.default is not None:
            self._usual = self.entered(self.task.default)
        if self._usual is None:
            limits = self._limit, self._part
            self._limit = self._part = inf
            try:
                found = self.default_candidates
            finally:
                self._limit, self._part = limits
            with ISL_LOCK:
                usual = choose(self.task.original, self.task.context, found)
            self._usual = self.entered(usual)
        return self._usual

    def _draw(self, drawn: _Drawn) -> list[Schedule]:
        """All schedules of a source, with a look at the clock after each of them."""
        for schedule in _one_by_one(drawn.source):
            drawn.found.append(schedule)
            self.check_time()
        return drawn.found

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return time.monotonic() - self._begin

    @property
    def seconds_left(self) -> float:
        """Until the time is up; infinite without a budget."""
        kept_back = max(self._kept_back, LAST_RUNS * self._seconds_each * (self._kept_back > 0))
        # A part of the time ends when it ends: what is kept back is behind all parts.
        return min(self._limit - kept_back, self._part) - self.seconds

    def check_time(self) -> None:
        """Raises OutOfTime."""
        if self.seconds_left < 0:
            raise OutOfTime

    @contextmanager
    def keep_back(self, share: float) -> Generator[None]:
        """Inside, the time is up sooner: some of it is left for a few last runs."""
        budget = self.task.budget
        self._kept_back = 0.0 if budget is None else share * budget
        try:
            yield
        finally:
            self._kept_back = 0.0

    @contextmanager
    def at_most(self, seconds: float) -> Generator[None]:
        """Ends what is inside after some time: what it has found stays, and the search goes on."""
        before = self._part
        self._part = min(before, self.seconds + seconds)
        try:
            with suppress(OutOfTime):
                yield
        finally:
            self._part = before
        self.check_time()

    def key(self, schedule: Schedule) -> object:
        """Equal for schedules with the same loops over the same program."""
        known = self._keys.get(id(schedule))
        if known is None:
            # The schedule is kept as well, so that its id stays its own.
            known = self._keys[id(schedule)] = (schedule, schedule_key(schedule))
        return known[1]

    def is_new(self, schedule: Schedule) -> bool:
        """Whether the search has not met a schedule yet."""
        return self.key(schedule) not in self.schedules

    def predict(self, schedules: Sequence[Schedule]) -> list[float]:
        """The speed-up of each schedule by the model."""
        keys = self._enter(schedules)
        unknown = [key for key in dict.fromkeys(keys) if key not in self.predicted]
        for start in range(0, len(unknown), BATCH):
            if start:
                self.check_time()
            batch = unknown[start : start + BATCH]
            with ISL_LOCK:
                answers = self.task.model.predict(
                    self.task.context, [self.schedules[key] for key in batch]
                )
            for key, answer in zip(batch, answers, strict=True):
                self.predicted[key] = float(answer)
                self._improve(key)
            self._report()
        self.check_time()
        return [self.predicted[key] for key in keys]

    def measure(self, schedules: Sequence[Schedule]) -> list[float]:
        """The measured speed-up of each schedule."""
        keys = self._enter(schedules)
        unknown = [key for key in dict.fromkeys(keys) if key not in self.measured]
        while unknown:
            self.check_time()
            count = self._affordable()
            batch, unknown = unknown[:count], unknown[count:]
            self.repeat([self.schedules[key] for key in batch])
        return [self.speedup(key) for key in keys]

    def repeat(self, schedules: Sequence[Schedule]) -> None:
        """Measures once more: of several measurements, the median counts."""
        evaluator = self.task.evaluator
        assert evaluator is not None, "who measures has an evaluator"
        keys = self._enter(schedules)
        begin = self.seconds
        answers = evaluator.measure(self.task.context, schedules, max(0.0, self.seconds_left))
        if answers:
            self._seconds_each = (self.seconds - begin) / len(answers)
        for key, answer in zip(keys, answers, strict=False):
            self.measured.setdefault(key, []).append(float(answer))
        self._runs += len(answers)
        if max(answers, default=0.0) > FASTER * self._fastest:
            self._fastest = max(answers)
            self._improved = self.seconds, self._runs
        # What was the best one so far may have turned out to be slow, or to fail.
        self._best = max(self.schedules, key=self._rank)
        self._report()
        if len(answers) < len(schedules):
            raise OutOfTime

    def measure_one(self) -> None:
        """Measures the default schedule where the time was up before anything was measured."""
        if self._runs:
            return
        limits = self._limit, self._part
        self._limit = self._part = inf
        try:
            with suppress(OutOfTime):
                self.repeat([self.default_schedule])
        finally:
            self._limit, self._part = limits

    def _affordable(self) -> int:
        """How many schedules to measure until the next look at the clock: two for compilers."""
        budget = self.task.budget
        if budget is None:
            return RUNS
        if not self._seconds_each:
            return FIRST_RUNS
        return max(2, min(RUNS, int(SHARE_OF_RUNS * budget / self._seconds_each)))

    @property
    def runs_left(self) -> float:
        """For how many runs there is time, if they take as long as the last ones."""
        return self.seconds_left / self._seconds_each if self._seconds_each else inf

    def entered(self, schedule: Schedule) -> Schedule:
        """The schedule with the same loops that was met first."""
        (key,) = self._enter([schedule])
        return self.schedules[key]

    def count_only(self, schedule: Schedule, runs: Sequence[float]) -> None:
        """Of all that was measured of a schedule, only these runs count from now on."""
        self.measured[self.key(schedule)] = list(runs)

    def fails(self, schedule: Schedule) -> bool:
        """Whether a schedule was tried, and could not be run to its end."""
        return self.key(schedule) in self.measured and not self.measured_speedup(schedule)

    def speedup(self, key: object) -> float:
        """What was measured of a schedule, else what is predicted."""
        runs = self.measured.get(key)
        return median(runs) if runs else self.predicted.get(key, 0.0)

    def measured_speedup(self, schedule: Schedule) -> float:
        """What was measured of a schedule; 0.0 where that is nothing."""
        runs = self.measured.get(self.key(schedule))
        return median(runs) if runs else 0.0

    def ranked(self) -> list[Schedule]:
        """All schedules that were predicted, the fastest by the model first."""
        keys = sorted(self.predicted, key=lambda key: -self.predicted[key])
        return [self.schedules[key] for key in keys]

    def unmeasured(self) -> list[object]:
        """Keys of what was predicted and not measured, the fastest by the model first."""
        keys = (key for key in self.predicted if key not in self.measured)
        return sorted(keys, key=lambda key: -self.predicted[key])

    def proven(self) -> list[Schedule]:
        """All schedules that were measured and can be run, the fastest first."""
        keys = sorted(self.measured, key=lambda key: -self.speedup(key))
        return [self.schedules[key] for key in keys if self.speedup(key) > 0]

    def note_idleness(self) -> None:
        """Remarks that the last part of the time has brought nothing, where it has not."""
        at, runs = self._improved
        idle = self.seconds - at
        if idle >= IDLE * self.seconds and self._runs - runs >= FEWEST_IDLE:
            self.remarks.append(
                f"more time would hardly help: of {self.seconds:.1f} s, the last {idle:.1f} s with "
                f"{self._runs - runs} runs have found nothing faster"
            )

    def result(self, ended: Ended) -> Result:
        """The end of the search."""
        best = self.schedules[self._best]
        runs = self.measured.get(self._best)
        return Result(
            best,
            self.predicted.get(self._best, 0.0),
            median(runs) if runs else None,
            self._measured_default(),
            tuple(self._path(best)),
            len(self.schedules),
            len(self.predicted),
            self._runs,
            self.seconds,
            ended,
            remarks=tuple(self.remarks),
            beats_known=self.beats_known,
        )

    def _measured_default(self) -> float | None:
        if self._usual is None or self.key(self._usual) not in self.measured:
            return None
        return self.measured_speedup(self._usual)

    def choose(self, schedule: Schedule) -> None:
        """Makes a schedule the result, whatever the others are."""
        (self._best,) = self._enter([schedule])
        self.is_chosen = True

    def _improve(self, key: object) -> None:
        """Takes a schedule for the best one, if it is."""
        if self._rank(key) > self._rank(self._best):
            self._best = key

    def _rank(self, key: object) -> tuple[int, float]:
        """What was measured counts more than what is predicted, and that more than what fails."""
        speedup = self.speedup(key)
        return 1 if key not in self.measured else 2 if speedup > 0 else 0, speedup

    def _enter(self, schedules: Iterable[Schedule]) -> list[object]:
        keys: list[object] = []
        for schedule in schedules:
            key = self.key(schedule)
            self.schedules.setdefault(key, schedule)
            keys.append(key)
        return keys

    def _path(self, schedule: Schedule) -> Iterable[PathStep]:
        """Every step with the speed-up after it; what was not asked yet is predicted."""
        current = self.task.original
        states = [current]
        with ISL_LOCK:
            for step in schedule.transformations:
                current = current.apply(step)
                states.append(current)
            unknown = [state for state in states if self.key(state) not in self.predicted]
            answers = self.task.model.predict(self.task.context, unknown)
        known = {self.key(s): float(a) for s, a in zip(unknown, answers, strict=True)}
        for text, state in zip(["as written", *schedule.transformations], states, strict=True):
            key = self.key(state)
            runs = self.measured.get(key)
            predicted = self.predicted.get(key, known.get(key))
            yield PathStep(str(text), predicted, median(runs) if runs else None)

    def _report(self) -> None:
        now = time.monotonic()
        if now - self._reported < REPORT_EVERY:
            return
        self._reported = now
        self.task.report(
            Progress(
                len(self.schedules),
                len(self.predicted),
                self._runs,
                self.seconds,
                self.schedules[self._best],
                self.speedup(self._best),
            )
        )


def _one_by_one(source: Iterator[Schedule]) -> Iterator[Schedule]:
    """The schedules of a source that uses isl."""
    while True:
        with ISL_LOCK:
            schedule = next(source, None)
        if schedule is None:
            return
        yield schedule
