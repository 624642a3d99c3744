"""Choice of interchanges: models, the Pluto objective, and measurements.

Usage: python -m $PAPER.experiments.interchange measure DIR [NAME ...]
       python -m $PAPER.experiments.interchange evaluate DIR [MODEL ...] [--test LABELS]
       python -m $PAPER.experiments.interchange time [MODEL ...]

`measure` times every legal interchange of the paper's 28 benchmarks (or of those whose names begin
with NAME), and adds the labels to DIR.

`evaluate` counts how often the first answers are right: of models of interchanges (a name or a
file of `loopwright train`), of the general cost model used pair by pair, and of affine scheduling;
on the benchmarks in DIR, and on the test programs of LABELS. Benchmarks without a legal interchange
count as right, since illegal answers are passed over.

`time` compares what it takes to explore the interchanges of a nest: rating all of them with the
general cost model, or asking a model of interchanges for two answers. `new` is the first time for a
program, `again` when facts of its statements are known, as in the later levels of a search.

`PAPER` is loopwright.costmodel.papers.interchange2023.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import process_time, time

import numpy as np

from .....kernels.catalogue import catalogue
from .....passes.estimate.scheduling_context import SchedulingContext
from .....passes.polyhedral.extents import infer_extents
from .....passes.polyhedral.schedule_tree import leaves
from .....passes.schedules.schedule import Schedule
from .....passes.search.protocols import CostModel
from .....passes.search.space.affine import predicted_interchanges
from .....passes.search.space.loop_pairs import interchanges_by_levels
from .....passes.transformations.affine_schedule import AffineSchedule
from .....runtime.machine.machine_fingerprint import machine_fingerprint
from .....runtime.measuring.timing import Timing
from .....runtime.program import Function, load
from ....dataset.rows import rows_of
from ....dataset.store import Writer
from ....find import find_loop_pairs, find_model
from ....labels import Label, LabelledProgram, ProgramInstance
from ....learning.examples import ProgramExamples, load_examples
from ....learning.pairs import ProgramPairs, read_pairs
from ....learning.splits import split
from ....original import original_schedule
from ...common.loop_iterators import iterators
from ..accuracy import accuracies
from ..benchmarks import benchmarks
from ..classes import CLASSES, NONE, SHOTS, class_of
from ..interchange_model import (
    InterchangeFeaturiser,
    InterchangeModel,
)
from ..nest_rows import RowDescription
from ..workload import every_interchange

VISITS = 2
BUDGET = 0.1
LONG = 0.5
"""Orders that take more seconds are measured once."""

MODELS = ("network", "trees")
GENERAL = ("additive", "roofline")
TURNS = 7

Ratings = Callable[[Schedule, SchedulingContext], np.ndarray]
"""How good the classes of a program are: (shots, classes)."""


def measure(directory: Path, names: Sequence[str]) -> None:
    """Adds labels to a directory."""
    machine = machine_fingerprint()
    with Writer(directory) as writer:
        for number, (title, instance) in enumerate(benchmarks().items()):
            if names and not any(title.startswith(each) for each in names):
                continue
            function, values = _inputs(title)
            names_of_sizes = infer_extents(function.scop, instance.sizes)
            written = function.compile(schedule=None, threads=1)
            baseline = _label("", "", [written.time(*values, budget=BUDGET)])
            orders = dict(_orders(function))
            kernels = {
                origin: function.compile(schedule=schedule, threads=1)
                for origin, schedule in orders.items()
            }
            timings: dict[str, list[Timing]] = {origin: [] for origin in orders}
            for _ in range(VISITS):
                for origin, kernel in kernels.items():
                    if len(timings[origin]) == 0 or timings[origin][0].median < LONG:
                        timings[origin].append(kernel.time(*values, budget=BUDGET))
            labels = [
                _label(str(orders[origin]), origin, found, baseline.seconds)
                for origin, found in timings.items()
            ]
            writer.append(
                rows_of(
                    LabelledProgram(
                        number, instance, names_of_sizes, baseline, machine, "{}", tuple(labels)
                    )
                )
            )
            writer.flush()
            print(title, *(f"{label.origin} {label.speedup:.3g}" for label in labels), flush=True)


def _inputs(title: str) -> tuple[Function, list[object]]:
    name, _, size = title.rpartition("-")
    entry = catalogue()[f"interchange/{name}"]
    return load(entry.text)[entry.function], list(entry.arguments(size))


def _orders(function: Function) -> Iterator[tuple[str, Schedule]]:
    for schedule, origin in every_interchange(Schedule.original(function.scop)):
        yield origin, schedule


def _label(schedule: str, origin: str, timings: Sequence[Timing], baseline: float = 0.0) -> Label:
    runs = sorted(run for timing in timings for run in timing.seconds)
    decile = runs[len(runs) // 10]
    return Label(
        schedule,
        origin,
        "measured",
        decile,
        max(timing.spread for timing in timings),
        runs[0],
        len(runs),
        1,
        baseline or decile,
        0.0,
        0.0,
        time(),
    )


def legal_classes(original: Schedule) -> dict[int, Schedule]:
    """Every legal interchange of a program, by its number."""
    found = {NONE: original}
    for levels, move in interchanges_by_levels(original.tree).items():
        changed = move.apply(original)
        if changed is not None:
            found[class_of(levels)] = changed
    return found


def of_loop_pairs(model: InterchangeModel) -> Ratings:
    """The answers of a model of interchanges."""

    def rate(original: Schedule, context: SchedulingContext) -> np.ndarray:
        features = model.description.describe(context, original, original.tree)
        return model.ratings([features])[0]

    return rate


def of_cost_model(model: CostModel) -> Ratings:
    """The general cost model, asked about each interchange."""

    def rate(original: Schedule, context: SchedulingContext) -> np.ndarray:
        found = legal_classes(original)
        predicted = model.predict(context, list(found.values()))
        rated = np.full(len(CLASSES), -np.inf)
        rated[list(found)] = predicted
        return np.tile(rated, (SHOTS, 1))

    return rate


def of_affine_schedule(original: Schedule, context: SchedulingContext) -> np.ndarray:
    """The order of affine scheduling; what is no interchange of two levels counts as none."""
    rated = np.zeros((SHOTS, len(CLASSES)))
    wanted = _order(original.apply(AffineSchedule()), context)
    for number, schedule in legal_classes(original).items():
        rated[:, number] = _order(schedule, context) == wanted
    rated[:, NONE] += 0.5
    return rated


def _order(schedule: Schedule, context: SchedulingContext) -> dict[str, list[int | None]]:
    """Of each statement, the iterator of each loop."""
    statistics = context.statistics(schedule.scop)
    return {
        leaf.statement: iterators(statistics.statements[leaf.statement], loops)
        for leaf, loops in leaves(schedule.tree)
    }


def evaluate(directory: Path, labels: Path | None, names: Sequence[str]) -> None:
    """Prints a line per model."""
    raters: dict[str, Ratings] = {}
    for name in names or MODELS:
        model = find_loop_pairs(name)
        assert isinstance(model, InterchangeModel)
        raters[name] = of_loop_pairs(model)
    for name in GENERAL:
        raters[f"{name}, pair by pair"] = of_cost_model(find_model(name))
    raters["affine-schedule"] = of_affine_schedule
    parts = {"benchmarks": _examples(directory)}
    if labels is not None:
        programs = _examples(labels)
        kept = {each.key for each in split(each for each, _ in programs).test}
        parts["test programs"] = [each for each in programs if each[0].key in kept]
    for title, members in parts.items():
        count = len(benchmarks()) if title == "benchmarks" else len(members)
        print(f"\n{count} {title}, {len(members)} with a choice")
        print(f"{'':<24}{'strict 1, 2, any':>24}{'with ties 1, 2, any':>27}{'loss':>9}")
        for name, rate in raters.items():
            rated = np.stack([rate(*_parse(pairs)) for _, pairs in members])
            found = accuracies([example for example, _ in members], rated)
            cells = [
                value if key == "loss" else (value * len(members) + count - len(members)) / count
                for key, value in found.items()
                if key != "programs"
            ]
            print(f"{name:<24}{''.join(f'{value:>8.1%}' for value in cells)}", flush=True)


def _examples(directory: Path) -> list[tuple[ProgramExamples, ProgramPairs]]:
    pairs = [each for each in read_pairs(directory) if each.origin.startswith("interchange")]
    by_key = {each.key: each for each in pairs}
    found, _ = load_examples(pairs, InterchangeFeaturiser(RowDescription()))
    return [(each, by_key[each.key]) for each in found]


def _parse(program: ProgramPairs) -> tuple[Schedule, SchedulingContext]:
    return original_schedule(program.text), SchedulingContext(program.sizes, 1)


def explore_with_cost_model(
    model: CostModel, original: Schedule, context: SchedulingContext
) -> object:
    """All legal interchanges with the predicted best first."""
    found = list(legal_classes(original).values())
    rated = zip(model.predict(context, found), found, strict=True)
    return sorted(rated, key=lambda pair: -pair[0])


def explore_with_loop_pairs(
    model: InterchangeModel, original: Schedule, context: SchedulingContext
) -> object:
    """The answers of a model of interchanges, applied."""
    propose = predicted_interchanges(model)
    return [move.apply(original) for move in propose(original, original.tree, context)]


def compare_times(names: Sequence[str]) -> None:
    """Prints milliseconds per benchmark kernel, and speed-ups over the general cost model."""
    general = find_model(GENERAL[0])
    ways: dict[str, Callable[[Schedule, SchedulingContext], object]] = {
        GENERAL[0]: lambda original, context: explore_with_cost_model(general, original, context)
    }
    for name in names or MODELS:
        model = find_loop_pairs(name)
        assert isinstance(model, InterchangeModel)
        ways[name] = lambda original, context, model=model: explore_with_loop_pairs(
            model, original, context
        )
    ratios: dict[tuple[str, str], list[float]] = {}
    print("ms, new / again      " + "".join(f"{name:>20}" for name in ways))
    for title, instance in benchmarks().items():
        times = {name: _time(way, instance) for name, way in ways.items()}
        cells = [f"{1e3 * new:.2f} / {1e3 * again:.2f}" for new, again in times.values()]
        print(f"{title:<21}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
        for name, found in times.items():
            for place, kind in enumerate(("new", "again")):
                ratios.setdefault((name, kind), []).append(times[GENERAL[0]][place] / found[place])
    for (name, kind), found in ratios.items():
        print(f"{name}, {kind}: median speed-up {median(found):.2f}")


def _time(
    way: Callable[[Schedule, SchedulingContext], object], instance: ProgramInstance
) -> tuple[float, float]:
    """Seconds for a program that is new, and for one that is known; the median of some turns."""
    new: list[float] = []
    again: list[float] = []
    for _ in range(TURNS):
        original = original_schedule(instance.text)
        context = SchedulingContext(infer_extents(original.scop, instance.sizes), 1)
        for times in (new, again):
            start = process_time()
            way(original, context)
            times.append(process_time() - start)
    return median(new), median(again)


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description="Interchanges: models and measurements")
    actions = parser.add_subparsers(dest="action", required=True)
    action = actions.add_parser("measure")
    action.add_argument("directory", type=Path)
    action.add_argument("names", nargs="*")
    action = actions.add_parser("evaluate")
    action.add_argument("directory", type=Path)
    action.add_argument("--test", type=Path)
    action.add_argument("names", nargs="*")
    action = actions.add_parser("time")
    action.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    match arguments.action:
        case "measure":
            measure(arguments.directory, arguments.names)
        case "evaluate":
            evaluate(arguments.directory, arguments.test, arguments.names)
        case _:
            compare_times(arguments.names)


if __name__ == "__main__":
    main()
