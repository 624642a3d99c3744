"""What a search knows: every schedule that it has met, with predictions and measurements."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from statistics import median

import islpy as isl

from .. import schedule_tree
from ..polyhedral.context import ISL_LOCK
from ..schedule import Schedule
from ..schedule_tree import Leaf, Loop, Tree
from .result import Ended, PathStep, Progress, Result, Task

BATCH = 64
"""Schedules that are predicted at a time: between two looks at the clock."""

RUNS = 8
"""Schedules that are measured at a time, at most."""

SHARE_OF_RUNS = 0.1
"""Of the budget may go by until the next look at the clock."""

REPORT_EVERY = 0.5
"""Seconds."""

PROGRAM_STEPS = ("pack", "expand", "rfactor", "split")
"""Steps that change the program itself, which the tree does not tell in full."""


class OutOfTime(Exception):
    """The budget of a search is spent."""


class Ledger:
    """Asks the model and the evaluator of a task, each question once.

    Schedules with the same loops are the same: steps that lead to them, and names, do not count.
    `predict` and `measure` raise OutOfTime when the budget is spent.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.schedules: dict[object, Schedule] = {}
        self.predicted: dict[object, float] = {}
        self.measured: dict[object, list[float]] = {}
        self._begin = self._reported = time.monotonic()
        self._limit = float("inf") if task.budget is None else task.budget
        self._texts: dict[int, tuple[Mapping[str, isl.Aff], tuple[str, ...]]] = {}
        (self._best,) = self._enter([task.original])
        self.default: Schedule | None = None
        self._seconds_each = 0.0

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return time.monotonic() - self._begin

    @property
    def seconds_left(self) -> float:
        """Until the time is up; infinite without a budget."""
        return self._limit - self.seconds

    def check_time(self) -> None:
        """Raises OutOfTime."""
        if self.seconds > self._limit:
            raise OutOfTime

    @contextmanager
    def at_most(self, seconds: float) -> Generator[None]:
        """Ends what is inside after some time: what it has found stays, and the search goes on."""
        before = self._limit
        self._limit = self.seconds + seconds
        try:
            yield
        except OutOfTime:
            if self.seconds > before:
                raise
        finally:
            self._limit = before

    def key(self, schedule: Schedule) -> object:
        """Equal for schedules with the same loops over the same program."""
        steps = tuple(str(s) for s in schedule.transformations if s.name in PROGRAM_STEPS)
        return (steps, self._tree_key(schedule.tree))

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
                    self.task.request, [self.schedules[key] for key in batch]
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
        """Measures once more, whatever the time: of several measurements, the median counts."""
        evaluator = self.task.evaluator
        assert evaluator is not None, "who measures has an evaluator"
        keys = self._enter(schedules)
        begin = self.seconds
        answers = evaluator.measure(self.task.request, schedules)
        self._seconds_each = (self.seconds - begin) / max(1, len(schedules))
        for key, answer in zip(keys, answers, strict=True):
            self.measured.setdefault(key, []).append(float(answer))
            self._improve(key)
        self._report()

    def _affordable(self) -> int:
        """How many schedules to measure until the next look at the clock: two for compilers."""
        budget = self.task.budget
        if budget is None or not self._seconds_each:
            return RUNS
        return max(2, min(RUNS, int(SHARE_OF_RUNS * budget / self._seconds_each)))

    def speedup(self, key: object) -> float:
        """What was measured of a schedule, else what is predicted."""
        runs = self.measured.get(key)
        return median(runs) if runs else self.predicted.get(key, 0.0)

    def ranked(self) -> list[Schedule]:
        """All schedules that were predicted, the fastest by the model first."""
        keys = sorted(self.predicted, key=lambda key: -self.predicted[key])
        return [self.schedules[key] for key in keys]

    def proven(self) -> list[Schedule]:
        """All schedules that were measured and can be run, the fastest first."""
        keys = sorted(self.measured, key=lambda key: -self.speedup(key))
        return [self.schedules[key] for key in keys if self.speedup(key) > 0]

    def result(self, ended: Ended) -> Result:
        """The end of the search."""
        best = self.schedules[self._best]
        runs = self.measured.get(self._best)
        return Result(
            best,
            self.predicted.get(self._best, 0.0),
            median(runs) if runs else None,
            None if self.default is None else self.speedup(self.key(self.default)),
            tuple(self._path(best)),
            len(self.schedules),
            len(self.predicted),
            sum(map(len, self.measured.values())),
            self.seconds,
            ended,
        )

    def choose(self, schedule: Schedule) -> None:
        """Makes a schedule the result, whatever the others are."""
        (self._best,) = self._enter([schedule])

    def _improve(self, key: object) -> None:
        """Takes a schedule for the best one, if it is: what was measured counts more."""
        if self._rank(key) > self._rank(self._best):
            self._best = key

    def _rank(self, key: object) -> tuple[bool, float]:
        return key in self.measured, self.speedup(key)

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
            answers = self.task.model.predict(self.task.request, unknown)
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
                sum(map(len, self.measured.values())),
                self.seconds,
                self.schedules[self._best],
                self.speedup(self._best),
            )
        )

    def _tree_key(self, tree: Tree) -> object:
        match tree:
            case Leaf(statement):
                return statement
            case schedule_tree.Sequence(children):
                return tuple(map(self._tree_key, children))
            case Loop():
                marks = (tree.parallel, tree.vector, tree.unroll, tree.within is not None)
                return (self._functions(tree), marks, self._tree_key(tree.body))

    def _functions(self, loop: Loop) -> tuple[str, ...]:
        """What a loop runs over, as text, which takes its time to make."""
        found = self._texts.get(id(loop.schedule))
        if found is None:
            # The mapping is kept as well, so that its id stays its own.
            found = loop.schedule, tuple(str(aff) for aff in loop.schedule.values())
            self._texts[id(loop.schedule)] = found
        return found[1]
