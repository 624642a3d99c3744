"""Labelling and adaptation of `loopwright calibrate`, once its arguments are known to be right."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..costmodel.adapted import adapted_path
from ..costmodel.dataset.journal import Journal, read_journal
from ..costmodel.dataset.rows import seeds_of
from ..costmodel.labelled_data import RandomWorkload
from ..costmodel.labels import LabelledProgram
from ..costmodel.learning.evaluation_report import Metrics
from ..runtime.jit.cache import cache_directory
from ..runtime.labelling.local import label_here
from ..runtime.labelling.policy import Policy
from ..runtime.machine.machine_fingerprint import machine_fingerprint
from ..support.json_records import Document
from . import UsageError
from .common import format_table
from .data.labelling import label_and_store
from .json_output import emit, report

SEED = 77
"""Other programs than those that shipped models have learned from."""

FEWEST, MOST = 16, 40
"""Schedules per program: many programs say more than many schedules."""

HELD_OUT = 4
"""Every fourth program shows what is gained, before all are learned from."""

ENOUGH = 8
"""Programs, without which a model would rather be spoiled."""


@dataclass(frozen=True)
class CalibrateDocument(Document):
    """Result of `loopwright calibrate`."""

    document: ClassVar[str] = "calibrate"

    model: Annotated[str, "the shipped model"]
    written: Annotated[Path | None, "the adapted model; null where that errs more"]
    programs: Annotated[int, "labelled programs"]
    held_out: Annotated[int, "programs that the comparison has not learned from"]
    metrics: Annotated[Mapping[str, Metrics], "as shipped, and adapted"]


def calibrate(
    path: Path,
    folder: Path,
    output: Path | None,
    budget: float,
    policy: Policy,
    workers: int | None,
) -> int:
    """Labels, learns, and writes the model unless it errs more."""
    if not _can_adapt(path):
        raise UsageError(f"the model {path.stem} cannot be adapted")
    labels = folder / "labels"
    code = _label(labels, budget, policy, workers)
    if code:
        return code
    _adapt(path, labels, output or adapted_path(folder, path.stem))
    return 0


def _can_adapt(path: Path) -> bool:
    from ..costmodel.models.learned_model import LearnedModel
    from ..costmodel.models.model_files import load_model

    return type(load_model(path).model).adapt is not LearnedModel.adapt


def _label(directory: Path, budget: float, policy: Policy, workers: int | None) -> int:
    workload = RandomWorkload(SEED, FEWEST, MOST, policy.threads)
    rows = read_journal(directory)
    known = seeds_of(rows, machine_fingerprint(), fast_math=policy.fast_math)
    deadline = time.monotonic() + budget
    # It ends by the clock: how many programs that will be, nobody knows.
    items = (item for item in itertools.count() if workload.identity(item) not in known)
    wanted = itertools.takewhile(lambda _: time.monotonic() < deadline, items)
    print(f"labelling random programs for {budget:.0f} s", file=sys.stderr)
    found = _until(label_here(workload, policy, wanted, workers), deadline)
    return label_and_store(
        found, None, directory, fast_math=policy.fast_math, open_writer=Journal, tell=report
    )


def _until(labels: Generator[LabelledProgram], deadline: float) -> Generator[LabelledProgram]:
    try:
        for labelled in labels:
            yield labelled
            if time.monotonic() >= deadline:
                return
    finally:
        labels.close()


def _adapt(path: Path, labels: Path, output: Path) -> None:
    from ..costmodel.learning.errors import LearningError
    from ..costmodel.learning.evaluation_report import evaluate, predictions, table
    from ..costmodel.learning.examples import load_examples
    from ..costmodel.learning.pairs import pairs_of
    from ..costmodel.models.learned_model import TrainingOptions
    from ..costmodel.models.model_files import load_model, save_model

    stored = load_model(path)
    shared = cache_directory()
    examples, _ = load_examples(
        pairs_of(read_journal(labels), machine_fingerprint(), labels),
        stored.model.featuriser,
        cache=None if shared is None else shared / "features",
    )
    if len(examples) < ENOUGH:
        raise LearningError(
            f"{len(examples)} programs are too few to adapt a model: the same command adds more"
        )
    held_out = examples[::HELD_OUT]
    rest = [program for number, program in enumerate(examples) if number % HELD_OUT]
    columns: dict[str, Metrics] = {"as shipped": evaluate(predictions(stored.model, held_out))}
    trial = load_model(path).model
    trial.adapt(rest, TrainingOptions())
    columns["adapted"] = evaluate(predictions(trial, held_out))
    print(f"{len(held_out)} programs that the model has not learned from:\n")
    print(format_table(table(columns), numbers=True))
    is_better = columns["adapted"].mape <= columns["as shipped"].mape
    emit(
        CalibrateDocument(
            path.stem, output if is_better else None, len(examples), len(held_out), columns
        )
    )
    if not is_better:
        print("\nnot written, as it errs more; with more labels (the same command) it may err less")
        return
    stored.model.adapt(examples, TrainingOptions())
    output.parent.mkdir(parents=True, exist_ok=True)
    adapted = {
        "machine": machine_fingerprint(),
        "programs": len(examples),
        "pairs": sum(len(program.features) for program in examples),
    }
    save_model(output, stored.model, {**stored.card, "adapted": adapted})
    print(f"\nwritten: {output}")
