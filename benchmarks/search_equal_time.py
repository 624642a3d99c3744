"""Searches with runs at equal time, on programs that nobody has tuned anything for.

    python benchmarks/search_equal_time.py --budget 15                 # goes on where it stopped
    python benchmarks/search_equal_time.py --budget 15 --record search-equal-time

The programs are those of `field_like_searched.loops`, searched with each seed. `beam-execution` is
LOOPer's beam search with execution, `mcts` Tiramisu's; `evolution` runs random neighbours of the
fastest schedules so far, and asks no model. Whatever the searches find is run in turns with the
default schedule afterwards; the median of the turns counts. Every program that is done becomes a
line of a file. The exit code is 1 when a result is wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp, log
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any

import record
from field_like import Kind, instance, kinds

from loopwright import load
from loopwright.costmodel.find import find_model
from loopwright.costmodel.model_names import DEFAULT_MODEL
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.algorithm import Search, SearchOptions
from loopwright.passes.search.result import Task
from loopwright.passes.search.search_state import SearchState
from loopwright.passes.search.searches import find_search
from loopwright.passes.search.searching import search
from loopwright.passes.search.space.neighbours import neighbours
from loopwright.runtime.calling.inputs import Settings, make_arguments
from loopwright.runtime.program import Function
from loopwright.runtime.tuning.evaluator import RunningEvaluator
from loopwright.support.progress import ProgressLine

SEARCHES = ("hybrid", "beam-execution", "mcts", "evolution")
TURNS = 7
COLUMNS = ("search", "geometric mean", "least", "greatest", "runs, median")
TITLE = "Searches with runs at equal time"
TEXT = (
    "Speed-up over the default schedule of what each search finds on programs that nobody tuned "
    "anything for, in equal time, starting of processes included: medians of turns afterwards."
)

Line = dict[str, Any]


@dataclass(frozen=True)
class Evolution:
    """Runs the default candidates, then random neighbours of the fastest schedules so far."""

    parents: int = 4
    batch: int = 8
    near: int = 80
    """Neighbours of a parent, at most, that children are drawn from."""

    def explore(self, state: SearchState) -> None:
        """Measures until the time is up."""
        random = Random(state.task.seed)
        state.measure([state.default_schedule, *state.default_candidates])
        families: dict[object, list[Schedule]] = {}
        while children := list(islice(self._children(state, random, families), self.batch)):
            state.measure(children)

    def _children(
        self, state: SearchState, random: Random, families: dict[object, list[Schedule]]
    ) -> Iterator[Schedule]:
        task = state.task
        parents = state.proven()[: self.parents]
        for parent in parents:
            key = state.key(parent)
            if key not in families:
                found = neighbours(task.original, parent, task.context)
                families[key] = list(islice(found, self.near))
                random.shuffle(families[key])
        while any(families[state.key(parent)] for parent in parents):
            family = families[state.key(random.choice(parents))]
            child = family.pop() if family else None
            if child is not None and state.is_new(child):
                yield child


def main() -> None:
    """Measures what is missing, and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", type=float, default=15.0, help="seconds of each search (15)")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--lines", type=Path, default=Path("build/search-equal-time.jsonl"))
    record.add_option(parser)
    options = parser.parse_args()
    options.lines.parent.mkdir(parents=True, exist_ok=True)
    here = {"budget": options.budget, "threads": options.threads, "machine": record.machine()}
    known = record.known_lines(options.lines, here)
    wanted = [(kind, seed) for seed in range(options.seeds) for kind in kinds("searched")]
    with ProgressLine(len(wanted)) as progress:
        for number, (kind, seed) in enumerate(wanted):
            name = f"{kind.name} {seed}"
            progress.update(name, number)
            if name not in known:
                found = compared(kind, seed, options.budget, options.threads)
                known[name] = {**here, "kernel": name, **found}
                record.add_line(options.lines, known[name])
    lines = list(known.values())
    rows = [row(name, lines) for name in SEARCHES]
    for each in (COLUMNS, *rows):
        print("  ".join(map(str, each)))
    record.write(options.record, COLUMNS, rows, title=TITLE, text=TEXT, page="tuning")


def compared(kind: Kind, seed: int, budget: float, threads: int) -> Line:
    """Speed-ups of what each search finds over the default schedule."""
    program = instance(kind, seed)
    (function,) = load(program.text).values()
    texts = {name: str(size) for name, size in program.sizes.items()}
    arguments = make_arguments(function.scop, function.signature, Settings(texts, {}, 1))
    context = SchedulingContext(function.checked_sizes(arguments), threads)
    default = default_schedule(function.scop, context.sizes, threads=threads)
    results: dict[str, tuple[Schedule, int]] = {}
    for name in SEARCHES:
        how = Evolution() if name == "evolution" else find_search(name).make(SearchOptions())
        results[name] = searched(function, arguments, context, how, seed, budget)
    schedules = {str(each): each for each in (default, *(best for best, _ in results.values()))}
    turns = in_turns(function, arguments, context, schedules)
    base = turns[str(default)]
    return {
        "gains": {name: base / turns[str(best)] for name, (best, _) in results.items()},
        "runs": {name: runs for name, (_, runs) in results.items()},
        "schedules": {name: str(best) for name, (best, _) in results.items()},
    }


def searched(
    function: Function,
    arguments: Sequence[object],
    context: SchedulingContext,
    how: Search,
    seed: int,
    budget: float,
) -> tuple[Schedule, int]:
    """What a search finds, and how many runs it has made."""
    with RunningEvaluator(function, arguments, threads=context.threads) as evaluator:
        task = Task(
            Schedule.original(function.scop),
            context,
            find_model(DEFAULT_MODEL),
            evaluator,
            seed=seed,
            budget=budget,
        )
        result = search(how, task)
    return result.best, result.measurements


def in_turns(
    function: Function,
    arguments: Sequence[object],
    context: SchedulingContext,
    schedules: Mapping[str, Schedule],
) -> dict[str, float]:
    """The median of the seconds of each schedule, run in turns."""
    seconds: dict[str, list[float]] = {text: [] for text in schedules}
    with RunningEvaluator(function, arguments, threads=context.threads) as evaluator:
        for turn in range(TURNS):
            order = list(schedules)[:: -1 if turn % 2 else 1]
            answers = evaluator.measure(context, [schedules[text] for text in order])
            for text, speedup in zip(order, answers, strict=True):
                seconds[text].append(1 / speedup)
    return {text: median(found) for text, found in seconds.items()}


def row(name: str, lines: Sequence[Line]) -> list[record.Cell]:
    """The cells of a search."""
    gains = [line["gains"][name] for line in lines]
    mean = exp(fmean(map(log, gains)))
    runs = median(line["runs"][name] for line in lines)
    return [name, round(mean, 3), round(min(gains), 2), round(max(gains), 2), round(runs)]


if __name__ == "__main__":
    main()
