"""Ablation of working sets as features: `python -m $PAPER.experiments.working_set_ablation LABELS`.

Trains `additive` on rows as they are, and on rows with the bytes and numbers of working sets per
level of caches behind them, on the same programs with the same seeds; a test on others. Where
isl takes too long to count them, they are zeros, and a number says so.

`PAPER` is loopwright.costmodel.papers.ai_powered2021.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .....passes.estimate.scheduling_context import SchedulingContext
from .....passes.polyhedral.isl_context import TooComplexError, bounded
from .....passes.schedules.schedule import Schedule
from .....runtime.jit.cache import cache_directory
from .....support.progress import ProgressLine
from ....features.row_columns import FEATURES_VERSION, NAMES
from ....learning.evaluation_report import evaluate, predictions
from ....learning.examples import ProgramExamples, load_examples
from ....learning.pairs import ProgramPairs, read_pairs
from ....learning.splits import TRAINING, position
from ....models.additive import Additive
from ....models.learned_model import TrainingOptions
from ....models.statement_rows import ScheduleRows, StatementRows
from ..working_set_features import (
    PUBLISHED,
    SPLIT,
    VERSION,
    published,
    reuses_of,
    split,
)

OPERATIONS = 500_000
"""Of isl, for the working sets of one schedule: about a tenth of a second."""

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class WithWorkingSets:
    """Featuriser: rows of statements, extended by the working sets of the whole schedule."""

    @property
    def schema(self) -> str:
        """Name and version."""
        return f"statements-{FEATURES_VERSION}-working-sets-{VERSION}"

    def featurise(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> list[ScheduleRows]:
        """The rows of each schedule."""
        if not schedules:
            return []
        plain = StatementRows().featurise(context, schedules)
        first = schedules[0]
        written = Schedule.original(first.program, first.target, reassociate=first.reassociate)
        original = _widened(plain[0].original, written, context)
        return [
            ScheduleRows(_widened(rows.scheduled, schedule, context), original)
            for rows, schedule in zip(plain, schedules, strict=True)
        ]


def _widened(rows: np.ndarray, schedule: Schedule, context: SchedulingContext) -> np.ndarray:
    caches = schedule.target.caches
    try:
        with bounded(OPERATIONS):
            reuses = reuses_of(schedule, context)
        sets = [1.0, *published(reuses, caches), *split(reuses, caches)]
    except TooComplexError:
        sets = [0.0] * (1 + len(PUBLISHED) + len(SPLIT))
    return np.hstack([rows, np.broadcast_to(np.array(sets, np.float32), (len(rows), len(sets)))])


def narrowed(programs: Sequence[ProgramExamples]) -> list[ProgramExamples]:
    """The same programs without working sets."""
    width = len(NAMES)
    return [
        replace(
            program,
            features=tuple(
                ScheduleRows(each.scheduled[:, :width], each.original[:, :width])
                for each in program.features
            ),
        )
        for program in programs
    ]


def main() -> None:
    """Prints a row per kind of features and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--programs", type=int, default=400, help="of the labels (400)")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    pairs = _spread(read_pairs(options.labels, several=True), options.programs)
    folder = cache_directory()
    with ProgressLine(len(pairs)) as line:
        examples, _ = load_examples(
            pairs,
            WithWorkingSets(),
            cache=None if folder is None else folder / "features",
            workers=options.workers,
            progress=lambda done, total: line.update("programs", done),
        )
    training = [each for each in examples if position(each.text) < TRAINING]
    test = [each for each in examples if position(each.text) >= TRAINING]
    known = [each.scheduled[0, len(NAMES)] for program in examples for each in program.features]
    print(
        f"{len(training)} programs to learn from, {len(test)} others; "
        f"{len(known)} pairs, {np.mean(known):.1%} of them with working sets"
    )
    print(f"{'features':<14}{'seed':>5}{'MAPE':>8}{'Spearman':>10}{'nDCG':>7}{'nDCG@1':>8}")
    for name, prepared in (("as they are", narrowed), ("working sets", list[ProgramExamples])):
        for seed in SEEDS:
            model = Additive({"members": 1})
            model.fit(prepared(training), [], TrainingOptions(seed=seed))
            metrics = evaluate(predictions(model, prepared(test)))
            print(
                f"{name:<14}{seed:>5}{metrics.mape:>8.1%}{metrics.spearman_within:>10.3f}"
                f"{metrics.ndcg:>7.3f}{metrics.ndcg_1:>8.3f}",
                flush=True,
            )


def _spread(programs: Sequence[ProgramPairs], count: int) -> list[ProgramPairs]:
    """So many programs, evenly from all of them."""
    count = min(count, len(programs))
    return [programs[number * len(programs) // count] for number in range(count)]


if __name__ == "__main__":
    main()
