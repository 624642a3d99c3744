"""Per-program state of a labelling worker: candidates, measurements, incidents."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from ...costmodel.labels import Incident, Label, LabelledProgram, ProgramInstance
from ..calling.arguments import ArrayArgument
from ..machine.machine_fingerprint import code_generator, machine_fingerprint
from ..measuring.candidate_code import ObjectCode
from ..measuring.compare import ROUNDING
from ..measuring.timing import quantile
from .messages import Begun, Candidate, Closed, Measurement, Opened
from .policy import Policy

ROUNDING_OF_SUMS = {"f16": 5e-2, "bf16": 4e-1, "f32": 5e-3, "f64": 1e-7}
"""The same where sums may be reassociated: added one by one, many equal terms drift far."""


PATIENCE = 30
"""How often candidates of one program are put back because threads are far from each other."""

BETWEEN_TURNS = 1.0
"""Seconds between two turns of a candidate, as long as there are others to wait for."""


@dataclass
class ProgramQueue:
    """A program's state in a labelling worker."""

    item: int
    policy: Policy
    instance: ProgramInstance | None = None
    opened: Opened | None = None
    waiting: deque[Candidate] = field(default_factory=deque[Candidate])
    again: deque[tuple[float, Candidate]] = field(default_factory=deque[tuple[float, Candidate]])
    done: dict[str, list[Measurement]] = field(default_factory=dict[str, list[Measurement]])
    candidates: dict[str, Candidate] = field(default_factory=dict[str, Candidate])
    baselines: list[Measurement] = field(default_factory=list[Measurement])
    incidents: list[Incident] = field(default_factory=list[Incident])
    stages: dict[str, float] = field(default_factory=dict[str, float])
    since_baseline: int = 0
    patience: int = PATIENCE
    is_started: bool = False
    is_running: bool = False
    is_closed: bool = False
    is_hopeless: bool = False
    is_skipped: bool = False

    def next_run(self, *, is_parallel: bool = True) -> tuple[Candidate | None, ObjectCode] | None:
        """What to run next: a candidate, or the program itself (None) now and then, or nothing.

        Parallel candidates only if that `is_parallel`.
        """
        if self.opened is None or self.is_hopeless:
            return None
        if self._wants_baseline:
            return None, self.opened.baseline
        candidate = self._take(is_parallel)
        return None if candidate is None else (candidate, candidate.code)

    def _take(self, is_parallel: bool) -> Candidate | None:
        """The next candidate, a new one if there is one, and no parallel one unless they may."""
        for position, candidate in enumerate(self.waiting):
            if is_parallel or not candidate.code.is_parallel:
                del self.waiting[position]
                return candidate
        now = time.monotonic()
        for position, (due, candidate) in enumerate(self.again):
            is_due = self.is_closed or now >= due
            if is_due and (is_parallel or not candidate.code.is_parallel):
                del self.again[position]
                return candidate
        return None

    @property
    def _wants_baseline(self) -> bool:
        """At first, after some candidates, and in the end."""
        is_due = self.since_baseline >= self.policy.baseline_every
        is_last = self.is_closed and not self._is_waited_for and self.since_baseline > 0
        return not self.baselines or is_due or is_last

    @property
    def _is_waited_for(self) -> bool:
        """Whether there are candidates to measure, for the first time or again."""
        return bool(self.waiting) or bool(self.again)

    def repeat(self, candidate: Candidate | None) -> None:
        """Measures a candidate anew, and before it the program itself.

        For a process that knows nothing of the program yet, and after one that was suspended.
        """
        self.since_baseline = self.policy.baseline_every
        if candidate is not None:
            self.waiting.appendleft(candidate)

    def put_back(self, candidate: Candidate) -> None:
        """Measures a candidate later, whose threads are far from each other now."""
        self.patience -= 1
        self.waiting.appendleft(candidate)

    @property
    def baseline_seconds(self) -> float | None:
        """What the program itself took the last time it was measured."""
        return typical(self.baselines[-1].runs) if self.baselines else None

    def measured(self, candidate: Candidate | None, measurement: Measurement) -> None:
        """Takes a measurement of a candidate, or of the program itself."""
        for name, seconds in measurement.stages.items():
            self.stages[name] = self.stages.get(name, 0.0) + seconds
        if candidate is None:
            self.since_baseline = 0
            if not self.baselines:
                self._accept(measurement)
            self.baselines.append(measurement)
            return
        self.since_baseline += 1
        assert self.opened is not None, "only programs that were opened are measured"
        arguments = self.opened.signature.arguments
        kinds = {array.element.name for array in arguments if isinstance(array, ArrayArgument)}
        rounding = ROUNDING_OF_SUMS if self.policy.fast_math else ROUNDING
        if measurement.difference > max((rounding.get(kind, 0.0) for kind in kinds), default=0.0):
            message = f"results differ by {measurement.difference:.3g} of the largest value"
            self.fail("wrong", message, candidate.schedule)
            self.done.pop(candidate.schedule, None)
            return
        visits = self.done.setdefault(candidate.schedule, [])
        visits.append(measurement)
        self.candidates[candidate.schedule] = candidate
        known = self.baseline_seconds
        assert known is not None, "the program itself is measured first"
        is_slow = measurement.is_censored or typical(measurement.runs) > self.policy.slow * known
        if len(visits) < self.policy.visits and not is_slow:
            self.again.append((time.monotonic() + BETWEEN_TURNS, candidate))

    def _accept(self, measurement: Measurement) -> None:
        """Whether the program can be measured at all."""
        seconds = typical(measurement.runs)
        if not np.isfinite(measurement.difference):
            self.fail("not-finite", "the program computes NaN or infinities", "")
            self.is_hopeless = True
        elif seconds < self.policy.least_seconds:
            self.is_hopeless = True

    def fail(self, kind: str, message: str, schedule: str) -> None:
        """Notes an incident."""
        if self.instance is not None:
            text, sizes, seed = self.instance.text, self.instance.sizes, self.instance.seed
            self.incidents.append(Incident(kind, message, text, sizes, schedule, seed))

    def lose(self, kind: str, message: str, begun: Begun | None) -> None:
        """The compiling process is gone: there are no more candidates."""
        schedule = ""
        if begun is not None:
            self.instance = begun.instance
            schedule = begun.schedule or ""
            if begun.schedule is None:
                message = f"looking for schedules, {message}"
        self.fail(f"compile-{kind}", message, schedule)
        self.is_closed = True

    def close(self, message: Closed) -> None:
        """There are no more candidates."""
        self.instance = message.instance
        self.stages.update(message.stages)
        self.is_closed = True

    @property
    def is_finished(self) -> bool:
        """Whether everything that could be measured was."""
        if self.is_hopeless or self.opened is None:
            return self.is_closed
        idle = not self.is_running and not self._is_waited_for
        return self.is_closed and idle and not self._wants_baseline

    def result(self) -> LabelledProgram:
        """The labels of the program."""
        assert self.instance is not None, "a finished program was begun"
        if self.opened is None or not self.baselines or self.is_hopeless:
            return LabelledProgram(
                self.item,
                self.instance,
                self.instance.sizes,
                None,
                machine_fingerprint(),
                code_generator(),
                incidents=tuple(self.incidents),
            )
        times = [measurement.started for measurement in self.baselines]
        seconds = [typical(measurement.runs) for measurement in self.baselines]

        def label(candidate: Candidate, visits: list[Measurement]) -> Label:
            visits = [visit for visit in visits if not visit.is_censored] or visits
            runs = tuple(run for visit in visits for run in visit.runs)
            started = [visit.started for visit in visits]
            return Label(
                candidate.schedule,
                candidate.origin,
                "censored" if visits[0].is_censored else "measured",
                typical(runs),
                spread(runs),
                min(runs),
                len(runs),
                self.policy.threads if candidate.code.is_parallel else 1,
                float(np.mean(np.interp(started, times, seconds))),
                max(visit.difference for visit in visits),
                candidate.seconds,
                started[0],
            )

        program = Candidate(self.item, "", "program", self.opened.baseline, self.opened.seconds)
        labels = [label(self.candidates[name], visits) for name, visits in self.done.items()]
        return LabelledProgram(
            self.item,
            self.instance,
            self.opened.names,
            label(program, self.baselines),
            machine_fingerprint(),
            code_generator(),
            tuple(filter(self._is_known, labels)),
            tuple(self.incidents),
            self.stages,
        )

    def _is_known(self, label: Label) -> bool:
        """Not if it was cut off while everything was slow, the program itself included."""
        return label.status == "measured" or label.speedup < 1 / self.policy.cutoff


def typical(runs: tuple[float, ...]) -> float:
    """The lower decile: what disturbs a run makes it longer.

    Measured twice, lower deciles differ by a quarter less than medians do.
    """
    return quantile(sorted(runs), 0.1)


def spread(runs: tuple[float, ...]) -> float:
    """The interquartile range as a share of the median."""
    ordered = sorted(runs)
    return (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / quantile(ordered, 0.5)
