"""Trains a cost model on labelled pairs, and evaluates it on a test set of other programs.

DIR is a directory of labels, as written by 'loopwright data generate'. Programs are split 80/10/10
by their text into training, validation and test set. Beside the model FILE, the folder FILE.report
has metrics and plots of predicted against measured speed-ups. Ctrl-C ends the training and keeps
the best state so far; --resume continues from FILE.checkpoint.

examples:
  loopwright train measured --model looper -o looper.npz
  loopwright train measured --model looper -o looper.npz --resume
  loopwright train measured --model looper --option domain=box -o box.npz --epochs 100
  loopwright train measured --model tiramisu --option tags=published --space tiramisu -o t.npz
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import math
import shutil
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ..costmodel.labelled_data import RandomWorkload
from ..costmodel.learning.errors import LearningError
from ..costmodel.learning.evaluation_report import Metrics
from ..costmodel.learning.spaces import SPACES
from ..costmodel.learning.splits import TRAINING, Split, position, split
from ..costmodel.models.registry import model_class, model_names
from ..costmodel.polybench import ORIGIN
from ..runtime.jit.cache import cache_directory
from ..support.extras import MissingExtra, require
from ..support.json_records import Document
from ..support.output_files import write_output
from ..support.progress import ProgressLine
from ..support.version import __version__
from . import UsageError
from .common import (
    add_quiet_argument,
    check_output,
    check_seed,
    pairs,
    warn_of_damage,
)
from .json_output import emit
from .training_report import report_text

if TYPE_CHECKING:
    from ..costmodel.learning.evaluation_report import ProgramPredictions
    from ..costmodel.learning.examples import ProgramExamples, Skipped
    from ..costmodel.learning.pairs import ProgramPairs
    from ..costmodel.models.learned_model import LearnedModel, TrainingProgress
    from ..costmodel.models.training_curve import TrainingCurve

INTERRUPTED = 130
POLYBENCH = Path("datasets/polybench")
ENOUGH = 30
"""Programs with which no part of the split is empty, as a rule."""


@dataclass(frozen=True)
class TrainDocument(Document):
    """Result of `loopwright train`."""

    document: ClassVar[str] = "train"

    model: Annotated[Path, "the model file"]
    report: Annotated[Path, "the folder with report and card"]
    interrupted: Annotated[bool, "whether it ended early, and --resume goes on"]
    epochs: Annotated[int, "epochs of training"]
    seconds: Annotated[float, "seconds of training"]
    metrics: Annotated[Mapping[str, Metrics], "how good the model is on each set of labels"]
    card: Annotated[Mapping[str, Any], "the model's card (docs/reference/models.md)"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to learn from, which model, and how."""
    parser.add_argument("directory", metavar="DIR", type=Path, help="a directory of labels")
    parser.add_argument(
        "--model", required=True, metavar="NAME", help=f"one of {', '.join(model_names())}"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, required=True, help="the model file to write"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the model, such as domain=box (see docs/reference/models.md)",
    )
    parser.add_argument(
        "--epochs", type=int, metavar="N", help="training epochs (default: the model's own)"
    )
    parser.add_argument(
        "--learning-rate",
        type=float,
        metavar="R",
        help="peak learning rate (default: the model's own)",
    )
    parser.add_argument(
        "--patience",
        type=int,
        metavar="N",
        help="stop after so many epochs without improvement (default: never)",
    )
    parser.add_argument(
        "--batch", type=int, metavar="N", help="pairs per batch (default: the model's own)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="stop after the epoch in which so much time is spent; --resume goes on",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1 ... (default: cpu)")
    parser.add_argument(
        "-t", "--threads", type=int, default=1, metavar="T", help="threads of torch (default: 1)"
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes that compute features (default: 1)",
    )
    parser.add_argument(
        "--machine",
        metavar="TEXT",
        help="use labels of this machine only (a part of its fingerprint)",
    )
    parser.add_argument(
        "--space",
        choices=list(SPACES),
        default="full",
        help="space of programs and schedules (default: full)",
    )
    parser.add_argument(
        "--share",
        type=float,
        default=1.0,
        metavar="F",
        help="share of the training programs to use, for learning curves (default: 1)",
    )
    parser.add_argument(
        "--polybench",
        metavar="DIR",
        type=Path,
        help=f"labels of PolyBench as another test set (default: {POLYBENCH} if it exists)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="resume an interrupted training from its checkpoint"
    )
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Trains, tests, writes model and report."""
    _check(arguments)
    with _enough_memory():
        model = model_class(arguments.model)(pairs("--option", arguments.option))
    require("reading labels", "pyarrow")
    _prepare(model, arguments)
    data, description = _read(arguments, model)
    # Before the training: what is wrong with them would cost it.
    kernels = _read_polybench(arguments, model, description["machine"])
    with _enough_memory():
        outcome = _train(model, data, arguments)
    predicted, metrics = _test(model, data)
    if kernels:
        metrics["PolyBench"] = _judge(model, kernels)
    card = _card(arguments, model, description, outcome, metrics)
    card["figures"] = {
        "test": model.figures(data.test),
        "validation": model.figures(data.validation),
        "training": model.figures(data.training),
    }
    from ..costmodel.models.model_files import save_model

    save_model(arguments.output, model, card)
    folder = _report(arguments.output)
    text = report_text(card, metrics)
    write_output(folder / "report.txt", f"{text}\n")
    write_output(folder / "card.json", f"{json.dumps(card, indent=2)}\n")
    _draw(folder, predicted, f"{model.name}, {metrics['test'].programs} test programs")
    print(text)
    print(f"\nwritten: {arguments.output}, {folder}")
    emit(
        TrainDocument(
            arguments.output,
            folder,
            outcome.interrupted,
            card["training"]["epochs"],
            outcome.seconds,
            metrics,
            card,
        )
    )
    if outcome.interrupted:
        goes_on = _checkpoint(arguments.output).exists()
        how = (
            "--resume goes on from there" if goes_on else f"{model.name} starts from the beginning"
        )
        print(f"{'out of time' if outcome.is_late else 'interrupted'}; {how}", file=sys.stderr)
        return 0 if outcome.is_late else INTERRUPTED
    _remove(_checkpoint(arguments.output))
    return 0


def _prepare(model: LearnedModel, arguments: argparse.Namespace) -> None:
    """Device and threads of torch, where the model is trained with it; raises MissingExtra."""
    if model.trains_with is None:
        return
    require(f"training {model.name}", model.trains_with)
    import torch

    from ..costmodel.models.tensors import usable_device

    usable_device(arguments.device)
    if arguments.device.startswith("cuda"):
        # TF32: what is lost is far below the noise of the labels.
        torch.set_float32_matmul_precision("high")
    torch.set_num_threads(arguments.threads)


def _draw(folder: Path, predicted: Sequence[ProgramPredictions], title: str) -> None:
    """Pictures, where there is something to draw them with."""
    from ..costmodel.learning.prediction_plots import write_plots

    try:
        write_plots(folder, predicted, title)
    except MissingExtra as error:
        print(f"loopwright: warning: {error}", file=sys.stderr)


def _check(arguments: argparse.Namespace) -> None:
    for name, least in (
        *(("epochs", 1), ("patience", 1), ("batch", 1)),
        *(("seconds", 1), ("threads", 1), ("workers", 1)),
    ):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise UsageError(f"--{name} must be at least {least}, got {value:g}")
    if not 0 < arguments.share <= 1:
        raise UsageError(f"--share must be above 0 and at most 1, got {arguments.share:g}")
    rate = arguments.learning_rate
    if rate is not None and not 0 < rate < 10:
        raise UsageError(f"--learning-rate must be above 0 and less than 10, got {rate:g}")
    check_seed(arguments.seed)
    if arguments.polybench is not None and not arguments.polybench.is_dir():
        raise UsageError(f"--polybench: there is no directory {arguments.polybench}")
    check_output(arguments.output, is_replaced=True)
    _check_neighbours(arguments.output, is_resumed=arguments.resume)


@contextlib.contextmanager
def _enough_memory() -> Generator[None]:
    """Raises UsageError where NumPy or torch gets no memory."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        words = ("allocate", "overflow")
        if isinstance(error, RuntimeError) and not any(word in str(error) for word in words):
            raise
        raise UsageError(
            "there is not enough memory for a model of this size; give --option smaller values"
        ) from error


def _check_neighbours(output: Path, *, is_resumed: bool) -> None:
    """What stands beside the model: the checkpoint, the report."""
    checkpoint, report = _checkpoint(output), _report(output)
    if is_resumed and not checkpoint.exists():
        raise UsageError(f"there is nothing to resume: no checkpoint {checkpoint}")
    if checkpoint.exists() and not is_resumed:
        raise UsageError(
            f"{checkpoint} is of a training that was interrupted: --resume goes on with it; "
            "to begin anew, delete it or name another file"
        )
    if report.exists() and not report.is_dir():
        raise UsageError(f"{report} is in the way of the report's folder; name another file")


def _checkpoint(output: Path) -> Path:
    return output.with_name(f"{output.name}.checkpoint")


def _report(output: Path) -> Path:
    return output.with_name(f"{output.name}.report")


def _remove(checkpoint: Path) -> None:
    """A file, or the folder of a model of several parts."""
    if checkpoint.is_dir():
        shutil.rmtree(checkpoint)
    else:
        checkpoint.unlink(missing_ok=True)


def _read(
    arguments: argparse.Namespace, model: LearnedModel
) -> tuple[Split[ProgramExamples], dict[str, Any]]:
    """Examples of each part, and what they are from; raises LearningError, DatasetError."""
    from ..costmodel.learning.card import describe_data
    from ..costmodel.learning.pairs import read_pairs
    from ..costmodel.learning.spaces import restrict

    warn_of_damage(arguments.directory)
    found = read_pairs(arguments.directory, arguments.machine, several=model.sees_machine)
    found = [each for each in found if model.sees_fast_math or not each.fast_math]
    labelled = restrict([each for each in found if each.origin != ORIGIN], arguments.space)
    labelled = [program for program in labelled if _is_learned(program, arguments.share)]
    examples, skipped = _featurise(labelled, model, arguments.workers)
    parts = split(examples)
    kind = "" if model.workload == RandomWorkload.origin else f" --workload {model.workload}"
    for name in ("training", "validation", "test"):
        if not getattr(parts, name):
            raise LearningError(
                f"{arguments.directory} has labels of {len(examples)} programs here, too few: none "
                f"is left for {name}; make about {ENOUGH} at least with "
                f"'loopwright data generate{kind}'"
                + (", or take a larger --share" if arguments.share < 1 else "")
            )
    machine = " and ".join(sorted({program.machine for program in labelled}))
    return parts, describe_data(
        parts, machine, arguments.space, skipped.programs + skipped.schedules
    )


def _featurise(
    pairs: Sequence[ProgramPairs], model: LearnedModel, workers: int
) -> tuple[list[ProgramExamples], Skipped]:
    from ..costmodel.learning.examples import load_examples

    shared = cache_directory()
    with ProgressLine(len(pairs)) as line:
        return load_examples(
            pairs,
            model.featuriser,
            cache=None if shared is None else shared / "features",
            workers=workers,
            progress=lambda done, total: line.update("programs: features", done),
        )


def _read_polybench(
    arguments: argparse.Namespace, model: LearnedModel, machines: str
) -> list[ProgramExamples]:
    """PolyBench's kernels with labels of the machines that the model has learned from."""
    from ..costmodel.learning.pairs import read_pairs
    from ..costmodel.learning.spaces import restrict

    directory: Path = arguments.polybench or POLYBENCH
    if arguments.polybench is None and not directory.is_dir():
        return []
    warn_of_damage(directory)
    found = [pairs for pairs in read_pairs(directory, several=True) if pairs.machine in machines]
    return _featurise(restrict(found, arguments.space), model, arguments.workers)[0]


def _judge(model: LearnedModel, programs: Sequence[ProgramExamples]) -> Metrics:
    from ..costmodel.learning.evaluation_report import evaluate, predictions

    return evaluate(predictions(model, programs))


def _is_learned(program: ProgramPairs, share: float) -> bool:
    """Whether a program is taken; those that are not learned from are always."""
    where = position(program.text)
    return where >= TRAINING or where < TRAINING * share


@dataclass(frozen=True)
class _Outcome:
    curve: TrainingCurve
    seconds: float
    interrupted: bool
    is_late: bool

    @property
    def last(self) -> TrainingProgress | None:
        """The last epoch, if there was one."""
        return self.curve.rows[-1][0] if self.curve.rows else None


def _train(
    model: LearnedModel, data: Split[ProgramExamples], arguments: argparse.Namespace
) -> _Outcome:
    from ..costmodel.models.learned_model import TrainingOptions
    from ..costmodel.models.training_curve import TrainingCurve

    line = ProgressLine(0)
    curve = TrainingCurve()
    folder = _report(arguments.output)
    folder.mkdir(exist_ok=True)
    is_late = False

    def report(progress: TrainingProgress) -> None:
        nonlocal is_late
        curve.append(progress)
        # With each epoch: what happens in the background is seen, and stays after a kill.
        curve.write(folder / "curve.csv", goes_on=arguments.resume)
        line.update(
            f"epochs: error {progress.training_error:.3f}, "
            f"validation {progress.validation_error:.3f}, best {progress.best:.3f}",
            progress.epoch,
            progress.epochs,
        )
        if arguments.seconds is not None and curve.seconds > arguments.seconds:
            is_late = True
            raise KeyboardInterrupt

    interrupted = False
    with line:
        try:
            model.fit(
                data.training,
                data.validation,
                TrainingOptions(
                    epochs=arguments.epochs,
                    learning_rate=arguments.learning_rate,
                    seed=arguments.seed,
                    device=arguments.device,
                    patience=arguments.patience,
                    batch=arguments.batch,
                    checkpoint=_checkpoint(arguments.output),
                    resume=arguments.resume,
                    identity=f"{model.name} {dict(model.configuration)} {arguments.learning_rate} "
                    f"{arguments.batch}",
                    report=report,
                ),
            )
        except KeyboardInterrupt:
            if not curve.rows:
                raise
            interrupted = True
    return _Outcome(curve, curve.seconds, interrupted, is_late)


def _test(
    model: LearnedModel, data: Split[ProgramExamples]
) -> tuple[list[ProgramPredictions], dict[str, Metrics]]:
    from ..costmodel.learning.evaluation_report import (
        best_constant,
        constant_predictions,
        evaluate,
        predictions,
    )

    predicted = predictions(model, data.test)
    constant = constant_predictions(data.test, best_constant(data.training))
    return predicted, {
        "test": evaluate(predicted),
        "constant": evaluate(constant),
        "validation": _judge(model, data.validation),
        "training": _judge(model, data.training),
    }


def _card(
    arguments: argparse.Namespace,
    model: LearnedModel,
    data: dict[str, Any],
    outcome: _Outcome,
    metrics: dict[str, Metrics],
) -> dict[str, Any]:
    from ..costmodel.learning.card import make_card

    training = {
        "epochs": outcome.last.epoch if outcome.last else 0,
        "batch": arguments.batch,
        "seconds": round(outcome.seconds, 1),
        "seed": arguments.seed,
        "device": arguments.device,
        "interrupted": outcome.interrupted,
        "resumed": arguments.resume,
        "validation_error": outcome.last.best if outcome.last else math.nan,
    }
    package = model.trains_with
    versions = {"loopwright": __version__}
    if package is not None:
        versions[package] = importlib.metadata.version(package)
    return make_card(model.name, model.configuration, data, training, metrics, versions)
