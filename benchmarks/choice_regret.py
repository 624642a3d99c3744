"""Regret of the default schedule's choice: by the estimate and by models, on kinds of programs that
these have not seen.

    nice -n 10 python benchmarks/choice_labels.py            # labels of this machine, once
    python benchmarks/choice_regret.py --record choice-regret

The regret of a choice is its time over that of the fastest candidate. `residual` are trees that
correct the logarithm of the estimate, grown for the least expected regret from the rows of the
slowest statement, sums over all, and the estimate; those that choose for a kind have seen all other
kinds alone (six folds). A margin is what every one of three forests must promise over the choice of
the estimate.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np
import record
from choice_labels import LINES, Line
from numpy.typing import NDArray

from loopwright import load
from loopwright.costmodel.features.extract import rows_of
from loopwright.costmodel.features.row_columns import column
from loopwright.costmodel.find import find_model
from loopwright.costmodel.model_names import DEFAULT_MODEL
from loopwright.costmodel.models.forest import Forest, Growth, Tree, digitise, grow, quantiles
from loopwright.passes.default.default_schedule import GAIN
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.isl_context import ISL_LOCK
from loopwright.passes.polyhedral.schedule_tree import functions_text
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.unanimity import unanimous_gains
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.calling.inputs import Settings, make_arguments
from loopwright.support.progress import ProgressLine

TREES, RATE, TEMPERATURE = 150, 0.1, 0.3
GROWTH = Growth(depth=4, share=0.15, smoothing=3.0, fewest=2.0)
FOLDS, FORESTS = 6, 3
MOST_REGRET = 2.0
"""Of a logarithm: a choice that is worse is not worse than that."""

MARGINS = (1.05, 1.2, 1.5)
COLUMNS = ("choice", "candidates", "geometric mean of regret", "over 1.05", "worst")
TITLE = "Regret of the default schedule's choice"
TEXT = (
    "Programs of 77 kinds like those of the field, five or six of each, one thread, all candidates "
    "run: the scheduler's proposals, or these with others' answers and neighbours as well. "
    "`residual` has learned from other kinds alone. A margin is over the estimate's choice."
)

Values = NDArray[np.float64]


@dataclass(eq=False)
class Program:
    """The candidates of a program, the first as written: features, logarithms of seconds.

    `gains` are those of the shipped model over the estimate's choice, by its least convinced
    member; the first `proposed` are the scheduler's own.
    """

    kind: str
    rows: NDArray[np.float32]
    estimates: Values
    seconds: Values
    gains: Values
    chosen: int
    proposed: int

    @property
    def regrets(self) -> Values:
        """Of each candidate, among all."""
        return np.minimum(self.seconds - self.seconds.min(), MOST_REGRET)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=Path, default=LINES)
    record.add_option(parser)
    options = parser.parse_args()
    lines = [json.loads(line) for line in options.lines.read_text().splitlines()]
    labelled = [line for line in lines if line["seconds"] and line["proposed"]]
    programs: list[Program] = []
    with ProgressLine(len(labelled)) as progress:
        for number, line in enumerate(labelled):
            progress.update("features", number)
            programs.append(described(line))
    rows = table(programs)
    for each in (COLUMNS, *rows):
        print("  ".join(map(str, each)))
    record.write(options.record, COLUMNS, rows, title=TITLE, text=TEXT, page="tuning")


def described(line: Line) -> Program:
    """What models see of a labelled program."""
    (function,) = load(line["text"]).values()
    sizes = {name: str(size) for name, size in line["sizes"].items()}
    arguments = make_arguments(function.scop, function.signature, Settings(sizes, {}, 1))
    context = SchedulingContext(function.checked_sizes(arguments), 1)
    original = Schedule.original(function.scop, reassociate=line["fast_math"])
    # Some candidates are too large to be compiled.
    ran = [
        number for number, each in enumerate(zip(*line["seconds"], strict=True)) if min(each) > 0
    ]
    with ISL_LOCK:
        texts = [line["schedules"][number] for number in ran]
        schedules = [original.apply_all(parse_pipeline(text)) for text in texts]
        estimates = np.log([max(1e-9, estimate(each, context)) for each in schedules])
        parts = rows_of(schedules, context)
    proposed = sum(number <= line["proposed"] for number in ran)
    chosen = _chosen(schedules[:proposed], estimates[:proposed])
    gains = unanimous_gains(find_model(DEFAULT_MODEL), context, [schedules[chosen], *schedules])
    features = [_features(np.asarray(part), estimates, number) for number, part in enumerate(parts)]
    seconds = np.array(line["seconds"])[:, ran]
    return Program(
        line["kind"],
        np.array(features, np.float32),
        estimates,
        np.log(seconds.min(axis=0)),
        np.log(gains[1:]),
        chosen,
        proposed,
    )


def _chosen(candidates: Sequence[Schedule], estimates: Values) -> int:
    """What the default scheduler takes of them, the first of which is the program as written."""
    best = int(estimates.argmin())
    if estimates[best] < log(GAIN) + estimates[0]:
        return best
    order = functions_text(candidates[0].tree)
    kept = [
        number
        for number, each in enumerate(candidates)
        if number and estimates[number] <= estimates[0] and functions_text(each.tree) == order
    ]
    return min(kept, key=lambda number: estimates[number], default=0)


def _features(rows: NDArray[np.float64], estimates: Values, number: int) -> Values:
    seconds = np.maximum(rows[:, column("estimate.seconds")], 1e-12)
    own = estimates[number]
    around = [own, own - estimates[0], own - estimates.min(), np.log(seconds.sum()) - own]
    sections = rows[seconds.argmax()], seconds / seconds.sum() @ rows, rows.max(axis=0)
    return np.concatenate([*sections, [len(rows), *around]])


def grown(programs: Sequence[Program], seed: int) -> Forest:
    """Trees that correct estimates so that little time is lost by the choices that follow."""
    random = np.random.default_rng(seed)
    rows = np.concatenate([program.rows for program in programs])
    thresholds = quantiles(rows)
    bins = digitise(rows, thresholds)
    counts = [len(program.seconds) for program in programs]
    starts = np.cumsum([0, *counts[:-1]])
    owner = np.repeat(np.arange(len(programs)), counts)
    regrets = np.concatenate([program.regrets for program in programs])
    found = np.concatenate([program.estimates for program in programs])
    trees: list[Tree] = []
    for _ in range(TREES):
        least = np.minimum.reduceat(found, starts)[owner]
        shares = np.exp((least - found) / TEMPERATURE)
        shares /= np.bincount(owner, shares)[owner]
        expected = np.bincount(owner, shares * regrets)[owner]
        slopes = shares * (expected - regrets) / TEMPERATURE
        curvatures = shares * (1 - shares) / TEMPERATURE**2 + 1e-3
        tree = grow(bins, thresholds, slopes, curvatures, GROWTH, random)
        trees.append(Tree(tree.features, tree.thresholds, RATE * tree.values))
        found += Forest.of(trees[-1:], GROWTH.depth).predict(rows)
    return Forest.of(trees, GROWTH.depth)


def predictions(programs: Sequence[Program]) -> dict[int, Values]:
    """Logarithms of seconds by each forest, (forests, candidates), for programs by their id."""
    kinds = sorted({program.kind for program in programs})
    np.random.default_rng(0).shuffle(kinds)
    result: dict[int, Values] = {}
    for fold in range(FOLDS):
        unseen = set(kinds[fold::FOLDS])
        known = [program for program in programs if program.kind not in unseen]
        forests = [grown(known, seed) for seed in range(FORESTS)]
        for program in programs:
            if program.kind in unseen:
                corrections = [forest.predict(program.rows) for forest in forests]
                result[id(program)] = program.estimates + np.array(corrections)
    return result


Pick = Callable[[Program, int], int]
"""The number of a candidate among the first of a program."""


def table(programs: Sequence[Program]) -> list[list[record.Cell]]:
    """The rows for all ways to choose."""
    found = predictions(programs)

    def residual(margin: float) -> Pick:
        def pick(program: Program, count: int) -> int:
            each = found[id(program)][:, :count]
            best = int(each.mean(axis=0).argmin())
            gain = (each[:, program.chosen] - each[:, best]).min()
            return best if gain > log(margin) else program.chosen

        return pick

    def ensemble(margin: float) -> Pick:
        def pick(program: Program, count: int) -> int:
            best = int(program.gains[:count].argmax())
            return best if program.gains[best] > log(margin) else program.chosen

        return pick

    picks: dict[str, Pick] = {"estimate": lambda program, _: program.chosen}
    for margin in MARGINS:
        picks[f"residual, margin {margin:g}"] = residual(margin)
    for margin in MARGINS:
        picks[f"{DEFAULT_MODEL}, margin {margin:g}"] = ensemble(margin)
    return [
        row(name, which, programs, pick)
        for which in ("proposals", "all")
        for name, pick in picks.items()
    ]


def row(name: str, which: str, programs: Sequence[Program], pick: Pick) -> list[record.Cell]:
    """The cells of a way to choose from the proposals, or from all candidates."""
    lost: list[float] = []
    for program in programs:
        count = program.proposed if which == "proposals" else len(program.seconds)
        seconds = program.seconds[:count]
        lost.append(float(seconds[pick(program, count)] - seconds.min()))
    factors = np.exp(lost)
    mean = round(float(np.exp(np.mean(lost))), 3)
    return [name, which, mean, int((factors > 1.05).sum()), round(float(factors.max()), 1)]


if __name__ == "__main__":
    main()
