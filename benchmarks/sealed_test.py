"""Sealed test: all models on labels that nothing was trained on or chosen by.

    python benchmarks/sealed_test.py datasets/sealed ensemble roofline --record sealed-test

Everything in the directory counts: its programs are of seeds of their own, and `loopwright train`
is never shown them. Open it once per release, with `--record`, when all choices are made. Each
model predicts as in a search, features included, and that is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import record

from loopwright.costmodel.find import find_model
from loopwright.costmodel.learning.evaluation_report import ProgramPredictions, evaluate
from loopwright.costmodel.learning.examples import Unsupported
from loopwright.costmodel.learning.machines import target_of
from loopwright.costmodel.learning.pairs import ProgramPairs, read_pairs
from loopwright.costmodel.learning.schedule_history import history_of
from loopwright.costmodel.model_names import SHIPPED, SUFFIX
from loopwright.costmodel.models.model_files import load_model
from loopwright.costmodel.original import original_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.protocols import CostModel
from loopwright.passes.syntax.pipeline import parse_pipeline

COLUMNS = (
    *("model", "programs, pairs", "MAPE", "median error", "Spearman", "nDCG@1", "nDCG@5"),
    *("regret of the choice", "ms a prediction", "training hours"),
)


def replayed(program: ProgramPairs) -> dict[int, Schedule]:
    """The schedules of a program that still apply, by position."""
    original = original_schedule(
        program.text, fast_math=program.fast_math, target=target_of(program.machine)
    )
    history = history_of(original.program)
    found: dict[int, Schedule] = {}
    for position, text in enumerate(program.schedules):
        try:
            found[position] = history.replay(original, parse_pipeline(text))
        except TransformationError:
            continue
    return found


def judged(
    model: CostModel, programs: Iterable[ProgramPairs]
) -> tuple[list[ProgramPredictions], float]:
    """What the model predicts, and the processor's seconds that it takes for one schedule."""
    predictions: list[ProgramPredictions] = []
    seconds, pairs = 0.0, 0
    for program in programs:
        schedules = replayed(program)
        found: dict[int, float] = {}
        for threads in sorted(set(program.threads)):
            own = [each for each in schedules if program.threads[each] == threads]
            context = SchedulingContext(program.sizes, threads)
            begin = time.process_time()
            with contextlib.suppress(Unsupported):
                predicted = model.predict(context, [schedules[each] for each in own])
                seconds += time.process_time() - begin
                pairs += len(own)
                found.update(zip(own, predicted, strict=True))
        kept = sorted(found)
        if kept:
            predictions.append(
                ProgramPredictions(
                    program.key,
                    np.array([found[each] for each in kept]),
                    program.speedups[kept],
                    program.censored[kept],
                )
            )
    return predictions, seconds / max(pairs, 1)


def row(name: str, directory: Path, machine: str | None) -> list[record.Cell]:
    """The figures of a model."""
    programs = read_pairs(directory, machine, several=True)
    predictions, seconds = judged(find_model(name), programs)
    found = evaluate(predictions)
    return [
        f"`{Path(name).stem}`",
        f"{found.programs:,}, {found.pairs:,}",
        f"{found.mape:.1%}",
        f"{found.median_error:.1%}",
        f"{found.spearman:.3f}",
        f"{found.ndcg_1:.3f}",
        f"{found.ndcg_5:.3f}",
        f"{found.regret:.1%}",
        f"{1e3 * seconds:.1f}",
        training_hours(name),
    ]


def training_hours(name: str) -> str:
    """By the card of the model's file."""
    shipped = SHIPPED / f"{name}{SUFFIX}"
    path = shipped if shipped.exists() else Path(name)
    if not path.exists():
        return "-"
    seconds = load_model(path).card.get("training", {}).get("seconds")
    return "-" if seconds is None else f"{seconds / 3600:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--machine", metavar="TEXT", help="a part of fingerprints")
    record.add_option(parser)
    options = parser.parse_args()
    programs = read_pairs(options.directory, options.machine, several=True)
    cpus = {str(json.loads(each.machine)["cpu_name"]) for each in programs}
    if len(cpus) > 1:
        parser.error(f"labels of several machines: choose one of {', '.join(sorted(cpus))}")
    # A process for each model: none finds in memory what another one has computed.
    with ProcessPoolExecutor(len(options.models), get_context("spawn")) as executor:
        found = executor.map(
            row, options.models, repeat(options.directory), repeat(options.machine)
        )
        rows: list[list[record.Cell]] = []
        for each in found:
            rows.append(each)
            print("  ".join(map(str, each)), flush=True)
    record.write(
        options.record, COLUMNS, rows, page="models", title="Sealed test", measured_on=cpus.pop()
    )


if __name__ == "__main__":
    main()
