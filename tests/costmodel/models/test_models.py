"""The networks: batching, learning, seeds, going on after an interruption, files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.labels import write_labels

from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.learning.evaluation_report import evaluate, predictions
from loopwright.costmodel.learning.examples import ProgramExamples, load_examples
from loopwright.costmodel.learning.pairs import read_pairs
from loopwright.costmodel.models.array_files import load_arrays, store_arrays
from loopwright.costmodel.models.learned_model import LOWEST, TrainingOptions, TrainingProgress
from loopwright.costmodel.models.model_files import load_model, save_model
from loopwright.costmodel.models.network_model import NetworkModel
from loopwright.costmodel.models.registry import model_class, model_names
from loopwright.costmodel.models.training import percentage_errors
from loopwright.costmodel.original import original_schedule
from loopwright.costmodel.papers.common.loop_structure import Node
from loopwright.costmodel.papers.common.tree_network import (
    LoopEmbedding,
    batch_trees,
    plan_of,
    sequences,
    under_loops,
    under_one_root,
)
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.syntax.pipeline import parse_pipeline

SMALL: Mapping[str, Any] = {
    "statement_layers": (24, 16),
    "loop_layer": 16,
    "regression_layers": (16, 12),
    "dropout": 0.0,
}
NETWORKS = ("tiramisu", "looper")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("labels")
    write_labels(directory, 6)
    return directory


def network(name: str, **options: Any) -> NetworkModel:
    model = model_class(name)({**SMALL, **options})
    assert isinstance(model, NetworkModel)
    return model


def examples(labels: Path, model: NetworkModel) -> list[ProgramExamples]:
    return load_examples(read_pairs(labels), model.featuriser)[0]


class TestTrees:
    SHAPE = ((0, (0, (1, (1, (2, (2,)))))), (3, (3,)), 4)

    def test_loops_wait_for_the_loops_in_them(self) -> None:
        plan = plan_of(self.SHAPE[:2])
        assert [level.loops for level in plan.levels] == [(2, 3), (1,), (0,)]
        assert plan.levels[2].statements == ((0,),) and plan.levels[2].children == ((1,),)
        assert plan.roots == (0, 3)

    def test_roots_are_loops(self) -> None:
        assert under_one_root(self.SHAPE) == ((4, self.SHAPE),)
        assert under_one_root(self.SHAPE[:1]) == self.SHAPE[:1]
        assert under_loops(self.SHAPE) == (*self.SHAPE[:2], (4, (4,)))

    def test_numbers_count_through_the_trees_of_a_batch(self) -> None:
        batch = batch_trees([((0, (0,)),), ((0, (0, (1, (1,)))),)])
        assert batch.levels[0].loops.tolist() == [0, 2]
        assert batch.statements.index.tolist() == [0, 1, 2] and batch.loops == 3
        assert batch.levels[1].children.index.tolist() == [2]
        assert batch.roots.index.tolist() == [0, 1]

    def test_sequences_are_packed_by_length(self) -> None:
        packed = sequences([[5], [], [7, 8, 9], [3, 4]])
        assert packed.index.tolist() == [7, 3, 5, 8, 4, 9]
        assert packed.batch_sizes.tolist() == [3, 2, 1]
        assert packed.place.tolist() == [2, 3, 0, 1]


def test_what_differs_still_differs_after_many_loops() -> None:
    torch.manual_seed(0)
    embedding = LoopEmbedding(64, 64, 0.0)
    chain: Node = 0
    for number in range(5):
        chain = (number, (chain,))
    statements = torch.randn(50, 64)
    batch = batch_trees([(chain,)] * 50)
    with torch.no_grad():
        outermost = embedding(statements, batch)[batch.roots.index]
    assert outermost.std(0).mean() > 0.05 * statements.std(0).mean()


@pytest.mark.parametrize("name", NETWORKS)
class TestNetworks:
    def test_a_batch_gives_what_each_gives_alone(self, name: str, labels: Path) -> None:
        model = network(name)
        features = [each for program in examples(labels, model) for each in program.features]
        # Fresh weights predict much the same for all.
        with torch.no_grad():
            for weights in model.network.parameters():
                weights.mul_(3.0)
        together = model.score(features)
        alone = np.concatenate([model.score([each]) for each in features])
        assert np.ptp(together) > 1e-3
        np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-5)

    def test_it_learns_what_it_is_shown(self, name: str, labels: Path) -> None:
        model = network(name, output="exponential")
        shown = examples(labels, model)[:2]
        options = TrainingOptions(epochs=80, learning_rate=0.01, patience=80)
        model.fit(shown, shown, options)
        assert evaluate(predictions(model, shown)).mape < 0.1

    def test_a_seed_gives_one_model(self, name: str, labels: Path) -> None:
        states: list[Mapping[str, Any]] = []
        for seed in (1, 1, 2):
            model = network(name, dropout=0.2)
            shown = examples(labels, model)
            model.fit(shown, shown, TrainingOptions(epochs=2, seed=seed))
            states.append(model.state())
        assert all(np.array_equal(states[0][key], states[1][key]) for key in states[0])
        assert any(not np.array_equal(states[0][key], states[2][key]) for key in states[0])

    def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(
        self, name: str, labels: Path, tmp_path: Path
    ) -> None:
        def interrupt(progress: TrainingProgress) -> None:
            if progress.epoch == 3:
                raise KeyboardInterrupt

        whole, interrupted, resumed = (network(name, dropout=0.2) for _ in range(3))
        shown = examples(labels, whole)
        options = TrainingOptions(epochs=6, learning_rate=0.01, checkpoint=tmp_path / "checkpoint")
        whole.fit(shown, shown, replace(options, checkpoint=None))
        with pytest.raises(KeyboardInterrupt):
            interrupted.fit(shown, shown, replace(options, report=interrupt))
        assert np.isfinite(interrupted.score(shown[0].features)).all()
        epochs: list[int] = []
        resumed.fit(
            shown,
            shown,
            replace(options, resume=True, report=lambda progress: epochs.append(progress.epoch)),
        )
        assert epochs == [4, 5, 6]
        weights, others = whole.state(), resumed.state()
        assert all(np.array_equal(weights[key], others[key]) for key in weights)

    def test_a_stored_model_predicts_the_same(
        self, name: str, labels: Path, tmp_path: Path
    ) -> None:
        model = network(name, output="exponential")
        shown = examples(labels, model)
        save_model(tmp_path / "model", model, {"pairs": 3})
        stored = load_model(tmp_path / "model")
        assert stored.card == {"pairs": 3}
        assert stored.model.configuration == model.configuration
        expected = model.score(shown[0].features)
        assert np.array_equal(stored.model.score(shown[0].features), expected)

    def test_it_answers_a_search(self, name: str, labels: Path) -> None:
        model = network(name)
        (pairs, *_) = read_pairs(labels)
        original = original_schedule(pairs.text)
        schedules = [original, *(original.apply_all(parse_pipeline(t)) for t in pairs.schedules)]
        found = model.predict(SchedulingContext(pairs.sizes, 2), schedules)
        assert len(found) == len(schedules) and min(found) >= LOWEST
        assert model.predict(SchedulingContext(pairs.sizes, 2), []) == []


def test_best_on_validation_is_kept(labels: Path) -> None:
    model = network("tiramisu")
    shown = examples(labels, model)
    seen: list[TrainingProgress] = []
    # A rate at which training falls apart now and then.
    options = TrainingOptions(epochs=12, learning_rate=0.2, patience=12, report=seen.append)
    model.fit(shown[:4], shown[4:], options)
    kept = evaluate(predictions(model, shown[4:])).mape
    assert kept == pytest.approx(min(each.validation_error for each in seen), rel=1e-4)


def test_training_ends_early_without_progress(labels: Path) -> None:
    model = network("tiramisu")
    shown = examples(labels, model)
    seen: list[TrainingProgress] = []
    options = TrainingOptions(epochs=40, learning_rate=1e-12, patience=3, report=seen.append)
    model.fit(shown, shown, options)
    best = min(range(len(seen)), key=lambda n: seen[n].validation_error)
    assert len(seen) == best + 1 + 3 < 40


def test_censored_pairs_only_bound_predictions() -> None:
    found = percentage_errors(
        torch.tensor([0.05, 0.25, 0.25]),
        torch.tensor([0.125, 0.125, 0.125]),
        torch.tensor([True, True, False]),
    )
    assert found.tolist() == pytest.approx([0.0, 1.0, 1.0])


def test_another_training_is_not_resumed(labels: Path, tmp_path: Path) -> None:
    model = network("tiramisu")
    shown = examples(labels, model)
    options = TrainingOptions(epochs=1, checkpoint=tmp_path / "checkpoint")
    model.fit(shown, shown, options)
    with pytest.raises(LearningError, match="is of another training"):
        model.fit(shown[:-1], shown, replace(options, resume=True))
    with pytest.raises(LearningError, match="nothing to resume"):
        model.fit(shown, shown, replace(options, resume=True, checkpoint=tmp_path / "none"))


@pytest.mark.parametrize("name", model_names())
def test_mistakes_in_options_are_explained(name: str) -> None:
    with pytest.raises(LearningError, match=f"the model {name} has no option 'drop-out'"):
        model_class(name)({"drop-out": 1})


def test_unknown_models_and_values_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LearningError, match="no model 'tiramisou'; did you mean tiramisu"):
        model_class("tiramisou")
    with pytest.raises(LearningError, match="option dropout is a number, not 'much'"):
        model_class("looper")({"dropout": "much"})
    with pytest.raises(LearningError, match="output is linear or exponential, not 'x'"):
        model_class("tiramisu")({"output": "x"})
    (tmp_path / "text").write_text("no model")
    with pytest.raises(LearningError, match="is not a file of loopwright train"):
        load_model(tmp_path / "text")
    (tmp_path / "empty").touch()
    with pytest.raises(LearningError, match="is not a file of loopwright train"):
        load_model(tmp_path / "empty")


def test_a_model_of_other_features_is_refused(labels: Path, tmp_path: Path) -> None:
    save_model(tmp_path / "model", network("tiramisu"), {})
    content = load_arrays(tmp_path / "model")
    store_arrays(tmp_path / "model", {**content, "schema": "tiramisu-0"})
    with pytest.raises(LearningError, match="was trained on other features"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("field", ["name", "configuration", "state", "card", "schema"])
def test_a_damaged_model_is_refused(field: str, tmp_path: Path) -> None:
    file = tmp_path / "model"
    save_model(file, network("tiramisu"), {})
    content = load_arrays(file)
    for damaged in (
        {name: value for name, value in content.items() if name != field},
        {**content, field: None},
    ):
        store_arrays(file, damaged)
        with pytest.raises(LearningError, match=r"damaged|no model|other features"):
            load_model(file)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "model"
    save_model(file, network("tiramisu"), {})
    content = load_arrays(file)
    next(iter(content["state"].values())).fill(np.nan)
    store_arrays(file, content)
    with pytest.raises(LearningError, match=r"is damaged; train it again"):
        load_model(file)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_flipped_bits_are_noticed(share: float, tmp_path: Path) -> None:
    file = tmp_path / "model"
    save_model(file, network("tiramisu"), {})
    content = bytearray(file.read_bytes())
    content[int(share * len(content))] ^= 1
    file.write_bytes(content)
    with pytest.raises(LearningError, match=r"damaged|not a file of loopwright train"):
        load_model(file)


def test_a_device_that_is_not_there_is_refused(labels: Path) -> None:
    model = network("tiramisu")
    shown = examples(labels, model)
    with pytest.raises(LearningError, match="the device 'gpu9' cannot be used here"):
        model.fit(shown, shown, TrainingOptions(epochs=1, device="gpu9"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("name", NETWORKS)
def test_it_learns_on_a_gpu(name: str, labels: Path) -> None:
    model = network(name, output="exponential")
    shown = examples(labels, model)[:2]
    options = TrainingOptions(epochs=80, learning_rate=0.01, patience=80, device="cuda")
    model.fit(shown, shown, options)
    assert evaluate(predictions(model, shown)).mape < 0.1
