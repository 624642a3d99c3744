"""Model-guided against execution-guided beam search on PolyBench, with equal time budgets.

    python benchmarks/search_comparison.py FOLDER --size MEDIUM --seconds 55 [KERNEL ...]
    python benchmarks/search_comparison.py FOLDER --size MEDIUM --report

For every kernel, both searches with the same beam go through the same space from the same orders;
then the two schedules are run in turns (LOOPer, section 6.4). Searching by model ends as it does
for users: with the default schedule, unless the model is sure. Every run of a candidate is a line
in FOLDER, so that the next call goes on where the time was up: a search is repeated up to there
with the answers that are known. What a search takes is the time of its own last repetition, and
that of all its runs. Run it where nothing else runs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import exp, inf, log
from pathlib import Path
from statistics import fmean, median
from typing import Any

import record

import loopwright
from loopwright.costmodel.find import find_model
from loopwright.costmodel.model_names import DEFAULT_MODEL
from loopwright.kernels.catalogue import KernelEntry
from loopwright.passes.estimate.estimate import Roofline
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.beam import BeamSearch
from loopwright.passes.search.result import Task
from loopwright.passes.search.search_state import OutOfTime, SearchState
from loopwright.passes.search.searching import search
from loopwright.passes.search.space.stages import SPACES
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.bench.selection import SelectionError, select_kernels
from loopwright.runtime.tuning.evaluator import RunningEvaluator
from loopwright.session.shipped_kernels import comparison

ROUNDS = 5

GROUP = 4
"""Candidates that are compiled together."""


@dataclass
class Journal:
    """Measurements of one kernel: a file of lines, each a JSON object."""

    path: Path
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @classmethod
    def open(cls, path: Path) -> Journal:
        """The journal in a file, which need not exist."""
        text = path.read_text() if path.exists() else ""
        return cls(path, [json.loads(line) for line in text.splitlines()])

    def add(self, **line: Any) -> None:
        """Keeps a line at once."""
        self.lines.append(line)
        record.add_line(self.path, line)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """All lines of a kind."""
        return [line for line in self.lines if line["kind"] == kind]


class RecordingEvaluator:
    """Runs what the journal has no measurement of, within a time budget."""

    def __init__(self, journal: Journal, evaluator: RunningEvaluator, end: float) -> None:
        self._journal = journal
        self._evaluator = evaluator
        self._end = end
        self._known = {line["schedule"]: line["speedup"] for line in journal.of("run")}
        self.seconds = 0.0

    def measure(
        self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
    ) -> list[float]:
        """In small groups, so that little is lost when the time is up."""
        answers: list[float] = []
        for start in range(0, len(schedules), GROUP):
            group = schedules[start : start + GROUP]
            unknown = [schedule for schedule in group if str(schedule) not in self._known]
            if unknown:
                self._run(context, unknown)
            for schedule in group:
                if str(schedule) not in self._known:
                    return answers
                answers.append(self._known[str(schedule)])
        return answers

    def _run(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> None:
        begin = time.monotonic()
        answers = self._evaluator.measure(context, schedules, max(0.0, self._end - begin))
        taken = time.monotonic() - begin
        self.seconds += taken
        for schedule, speedup in zip(schedules, answers, strict=False):
            self._known[str(schedule)] = speedup
            each = taken / len(answers)
            self._journal.add(kind="run", schedule=str(schedule), speedup=speedup, seconds=each)


@dataclass(frozen=True)
class Case:
    """A kernel at a size, and how it is searched."""

    entry: KernelEntry
    size: str
    threads: int
    search: BeamSearch
    model: str

    @contextmanager
    def evaluator(self) -> Generator[tuple[RunningEvaluator, Schedule, SchedulingContext]]:
        """Who runs candidates, the program as written, and the sizes."""
        function = loopwright.load(self.entry.text)[self.entry.function]
        values = list(self.entry.arguments(self.size))
        sizes = function.signature.sizes_of(values).of(function.scop)
        with RunningEvaluator(
            function,
            values,
            threads=self.threads,
            comparison=comparison(self.entry, function, values),
        ) as evaluator:
            yield (
                evaluator,
                Schedule.original(function.scop),
                SchedulingContext(sizes, self.threads),
            )


def advance(case: Case, journal: Journal, end: float) -> None:
    """Goes on with a kernel; raises OutOfTime when the time is up before it is done."""
    with case.evaluator() as (evaluator, original, context):
        if not journal.of("model"):
            evaluator.measure(context, [original])
            result = search(case.search, Task(original, context, find_model(case.model)))
            journal.add(
                kind="model",
                schedule=str(result.best),
                seconds=result.seconds,
                candidates=result.predictions,
            )
        if not journal.of("execution"):
            recording = RecordingEvaluator(journal, evaluator, end)
            task = Task(Schedule.original(original.program), context, Roofline(), recording)
            state = SearchState(task)
            replace(case.search, execution=True).explore(state)
            seconds = state.seconds - recording.seconds
            journal.add(
                kind="execution",
                schedule=str(state.result("done").best),
                seconds=seconds + sum(line["seconds"] for line in journal.of("run")),
                candidates=len(state.measured),
            )
        texts = [journal.of(kind)[0]["schedule"] for kind in ("model", "execution")]
        pair = [original.apply_all(parse_pipeline(text)) for text in texts]
        for _ in range(len(journal.of("turn")), ROUNDS):
            answers = evaluator.measure(context, pair, end - time.monotonic())
            if len(answers) < len(pair):
                raise OutOfTime
            journal.add(kind="turn", model=answers[0], execution=answers[1])


def report(journals: Mapping[str, Journal]) -> None:
    """A row per kernel that is done, and the medians."""
    ratios: list[float] = []
    times: list[float] = []
    print(
        f"{'':<24}{'model':>8}{'s':>8}{'n':>6}{'execution':>11}{'s':>8}{'n':>6}{'ratio':>8}{'time':>8}"
    )
    for name, journal in journals.items():
        turns = journal.of("turn")
        if len(turns) < ROUNDS:
            continue
        (model,), (execution,) = journal.of("model"), journal.of("execution")
        by_model, by_execution = (
            median(turn[who] for turn in turns) for who in ("model", "execution")
        )
        ratios.append(by_model / by_execution)
        times.append(execution["seconds"] / model["seconds"])
        print(
            f"{name:<24}{by_model:>8.2f}{model['seconds']:>8.2f}{model['candidates']:>6}"
            f"{by_execution:>11.2f}{execution['seconds']:>8.0f}{execution['candidates']:>6}"
            f"{ratios[-1]:>8.2f}{times[-1]:>7.0f}x"
        )
    if ratios:
        mean = exp(fmean(map(log, ratios))) if all(ratios) else 0.0
        print(
            f"{len(ratios)} kernels: median ratio of speed-ups {median(ratios):.2f} "
            f"(geometric mean {mean:.2f}), median ratio of times {median(times):.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--size", default="MEDIUM")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--beam", type=int, default=3)
    parser.add_argument("--space", choices=tuple(SPACES), default="full")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=inf, help="of this call")
    parser.add_argument("--report", action="store_true", help="only print what is known")
    options = parser.parse_intermixed_args()
    end = time.monotonic() + options.seconds
    try:
        entries = select_kernels(options.kernels or ["polybench"])
    except SelectionError as error:
        parser.error(str(error))
    options.folder.mkdir(parents=True, exist_ok=True)
    journals = {
        entry.name: Journal.open(
            options.folder / f"{entry.name.replace('/', '-')}-{options.size}.jsonl"
        )
        for entry in entries
    }
    try:
        for entry, journal in zip(entries, journals.values(), strict=True):
            if options.report:
                break
            search = BeamSearch(options.beam, stages=SPACES[options.space])
            if len(journal.of("turn")) < ROUNDS:
                case = Case(entry, options.size, options.threads, search, options.model)
                advance(case, journal, end)
    except OutOfTime:
        print("the time is up: call it again to go on")
    report(journals)


if __name__ == "__main__":
    main()
