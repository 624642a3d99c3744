"""Models of several parts go on where their training was interrupted, in whatever part that was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.scaled_rows import examples

from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.learning.examples import ProgramExamples
from loopwright.costmodel.models.additive import Additive
from loopwright.costmodel.models.additive_network import AdditiveNetwork
from loopwright.costmodel.models.boosting import STORED_EVERY
from loopwright.costmodel.models.ensemble import Ensemble
from loopwright.costmodel.models.learned_model import (
    LearnedModel,
    TrainingOptions,
    TrainingProgress,
)

EPOCHS = STORED_EVERY + 4


def small_ensemble() -> Ensemble:
    model = Ensemble({"forests": 1, "networks": 2})
    model.trees = Additive({"members": 1, "trees": EPOCHS, "depth": 3})
    return model


MODELS = {
    "additive": lambda: Additive({"members": 2, "depth": 3}),
    "additive-network": lambda: AdditiveNetwork({"members": 2, "width": 8}),
    "ensemble": small_ensemble,
}


@pytest.fixture(scope="module")
def programs() -> list[ProgramExamples]:
    return examples(8)


def fit(model: LearnedModel, programs: list[ProgramExamples], options: TrainingOptions) -> int:
    """Trains; returns how many epochs that took."""
    seen: list[TrainingProgress] = []
    inner = options.report

    def report(progress: TrainingProgress) -> None:
        seen.append(progress)
        inner(progress)

    model.fit(programs[:6], programs[6:], replace(options, report=report))
    return len(seen)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("interrupted_after", [3, STORED_EVERY + 2, EPOCHS + 2])
def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(
    name: str, interrupted_after: int, programs: list[ProgramExamples], tmp_path: Path
) -> None:
    options = TrainingOptions(epochs=EPOCHS, seed=3)
    whole = MODELS[name]()
    epochs = fit(whole, programs, options)
    left = interrupted_after

    def interrupt(_: TrainingProgress) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    kept = replace(options, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(KeyboardInterrupt):
        fit(MODELS[name](), programs, replace(kept, report=interrupt))
    resumed = MODELS[name]()
    assert fit(resumed, programs, replace(kept, resume=True)) == epochs - interrupted_after
    for program in programs:
        np.testing.assert_array_equal(
            whole.score(program.features), resumed.score(program.features)
        )


@pytest.mark.parametrize("name", MODELS)
def test_another_training_is_not_resumed(
    name: str, programs: list[ProgramExamples], tmp_path: Path
) -> None:
    options = TrainingOptions(epochs=2, checkpoint=tmp_path / "checkpoint")
    fit(MODELS[name](), programs, options)
    with pytest.raises(LearningError, match="is of another training"):
        fit(MODELS[name](), programs, replace(options, epochs=3, resume=True))


def test_a_forest_ends_with_what_is_best_on_validation(programs: list[ProgramExamples]) -> None:
    """The programs to judge by contradict the others: each tree makes it worse."""
    contrary = [replace(program, speedups=program.speedups**-1 * 1e-3) for program in programs[6:]]
    model = Additive({"members": 1, "depth": 3})
    seen: list[TrainingProgress] = []
    options = TrainingOptions(epochs=40, patience=5, report=seen.append)
    model.fit(programs[:6], contrary, options)
    errors = [progress.validation_error for progress in seen]
    best = int(np.argmin(errors)) + 1
    assert len(model.forest.features) == best
    assert len(errors) == best + 5 < 40
