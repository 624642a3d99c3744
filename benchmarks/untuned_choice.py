"""Choice of untuned `auto` among labelled schedules: `python benchmarks/untuned_choice.py DIR`.

Of every searched program in DIR that the shipped model has not learned from (validation and test),
with a label of the default schedule: the schedule of which the least convinced member of the model
expects most, if that is more than a threshold; else the default one. `mean` asks the model as a
whole instead. The last line is the fastest label of each program.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import fmean

import record

from loopwright.costmodel.dataset.shards import list_shards, read_table
from loopwright.costmodel.find import AUTO_MODEL, find_model
from loopwright.costmodel.labelled_data import SearchedWorkload
from loopwright.costmodel.learning.machines import target_of
from loopwright.costmodel.learning.pairs import ProgramPairs, read_pairs
from loopwright.costmodel.learning.splits import TRAINING, position
from loopwright.costmodel.original import original_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.search.protocols import CostModel
from loopwright.passes.search.unanimity import unanimous_gains
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.choosing.auto import GAIN

THRESHOLDS = (1.1, 1.25, GAIN, 1.5, 2.0)
SLOWER = 0.95


@dataclass(frozen=True)
class Choice:
    """Predicted and measured speed-ups of a program's schedules over its default schedule."""

    least: Sequence[float]
    mean: Sequence[float]
    measured: Sequence[float]

    def gain(self, expected: Sequence[float], threshold: float) -> float | None:
        """The measured gain of what is expected most of; None where the default schedule stays."""
        best = max(range(len(expected)), key=lambda number: expected[number])
        return self.measured[best] if expected[best] > threshold else None


def default_schedules(directory: Path) -> set[tuple[str, bool, str, str]]:
    """Program, fast math or not, machine and text of the labelled default schedules."""
    columns = ["program_key", "fast_math", "machine", "schedule", "schedule_origin"]
    rows = read_table(list_shards(directory).shards, columns).to_pylist()
    return {
        (row["program_key"].hex(), row["fast_math"], row["machine"], row["schedule"])
        for row in rows
        if row["schedule_origin"] == "default"
    }


def choices(directory: Path, model: CostModel) -> Iterator[Choice]:
    """All programs that the model has not learned from."""
    defaults = default_schedules(directory)
    for program in read_pairs(directory, several=True):
        if program.origin != SearchedWorkload.origin or position(program.text) < TRAINING:
            continue
        for number, text in enumerate(program.schedules):
            if (program.key, program.fast_math, program.machine, text) in defaults:
                yield _choice(program, number, model)
                break


def _choice(program: ProgramPairs, default: int, model: CostModel) -> Choice:
    original = original_schedule(
        program.text, fast_math=program.fast_math, target=target_of(program.machine)
    )
    order = [default, *(n for n in range(len(program.schedules)) if n != default)]
    schedules = [original.apply_all(parse_pipeline(program.schedules[n])) for n in order]
    context = SchedulingContext(program.sizes, max(program.threads))
    predicted = model.predict(context, schedules)
    return Choice(
        unanimous_gains(model, context, schedules),
        [each / predicted[0] for each in predicted],
        [float(program.speedups[n] / program.speedups[default]) for n in order],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--model", default=AUTO_MODEL)
    record.add_option(parser)
    options = parser.parse_args()
    found = list(choices(options.directory, find_model(options.model)))
    print(f"{len(found)} programs\n")
    print("| decides | threshold | taken | geometric mean | least | slower |")
    print("|---|---|---|---|---|---|")
    rows: list[tuple[str, str, int, float, float, int]] = []
    for name in ("least", "mean"):
        for threshold in THRESHOLDS:
            gains = [each.gain(getattr(each, name), threshold) for each in found]
            rows.append(report(name, f"{threshold:g}", gains))
    rows.append(report("labels", "", [max(each.measured) for each in found]))
    columns = ("decides", "threshold", "taken", "geometric mean", "least", "slower")
    record.write(options.record, columns, rows)


def report(
    name: str, threshold: str, gains: Sequence[float | None]
) -> tuple[str, str, int, float, float, int]:
    """Prints a row of the table and returns it; None stands for the default schedule."""
    taken = [gain for gain in gains if gain is not None]
    all_gains = [1.0 if gain is None else gain for gain in gains]
    slower = sum(gain < SLOWER for gain in taken)
    mean = exp(fmean(map(log, all_gains)))
    print(f"| {name} | {threshold} | {len(taken)} | {mean:.3f} | {min(all_gains):.2f} | {slower} |")
    return name, threshold, len(taken), round(mean, 3), round(min(all_gains), 2), slower


if __name__ == "__main__":
    main()
