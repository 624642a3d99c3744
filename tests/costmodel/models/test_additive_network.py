"""The additive model with a network in place of trees, and the mean of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from support.scaled_rows import TEXT, errors, examples, sizes

from loopwright.costmodel.features.row_columns import column
from loopwright.costmodel.find import find_model
from loopwright.costmodel.learning.errors import LearningError
from loopwright.costmodel.models.additive_network import AdditiveNetwork
from loopwright.costmodel.models.additive_network_training import LogarithmPool
from loopwright.costmodel.models.additive_sum import AdditiveNetworkOptions
from loopwright.costmodel.models.ensemble import Ensemble
from loopwright.costmodel.models.learned_model import (
    LearnedModel,
    TrainingOptions,
    TrainingProgress,
)
from loopwright.costmodel.models.statement_rows import ScheduleRows
from loopwright.costmodel.models.training import PairPool
from loopwright.costmodel.original import original_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.search.protocols import Committee
from loopwright.passes.syntax.pipeline import parse_pipeline

SMALL: list[tuple[type[LearnedModel], dict[str, Any]]] = [
    (AdditiveNetwork, {"width": 32, "dropout": 0.0}),
    (AdditiveNetwork, {"width": 32, "dropout": 0.0, "members": 2}),
    (Ensemble, {"networks": 2, "share": 1.0}),
]
EPOCHS = 80


@pytest.mark.parametrize(("model_class", "options"), SMALL)
def test_it_learns_by_which_factors_estimates_are_wrong(
    model_class: type[LearnedModel], options: dict[str, Any]
) -> None:
    programs = examples(24)
    model = model_class(options)
    before = errors(model, programs[20:])
    model.fit(programs[:20], programs[20:22], TrainingOptions(epochs=EPOCHS))
    assert before > 0.3
    assert errors(model, programs[20:]) < before / 2
    restored = model_class.restored(model.configuration, model.state())
    np.testing.assert_array_equal(
        restored.score(programs[0].features), model.score(programs[0].features)
    )


@pytest.mark.parametrize(("model_class", "options"), SMALL)
def test_what_is_different_elsewhere_is_learned_on_top(
    model_class: type[LearnedModel], options: dict[str, Any]
) -> None:
    programs = examples(12)
    model = model_class(options)
    model.fit(programs, programs, TrainingOptions(epochs=20))
    for program in programs:
        program.speedups[:] *= 0.5
    before = errors(model, programs)
    model.adapt(programs, TrainingOptions(epochs=40))
    assert errors(model, programs) < before


@pytest.mark.parametrize(("model_class", "options"), SMALL)
def test_a_batch_gives_what_each_gives_alone(
    model_class: type[LearnedModel], options: dict[str, Any]
) -> None:
    programs = examples(4)
    model = model_class(options)
    model.fit(programs, programs, TrainingOptions(epochs=3))
    features = [each for program in programs for each in program.features]
    alone = [float(model.score([each])[0]) for each in features]
    np.testing.assert_allclose(model.score(features), alone, rtol=1e-4)


def test_what_was_always_the_same_says_nothing_elsewhere() -> None:
    """A cache that no labelled machine had once made networks predict anything."""
    programs = examples(12)
    model = AdditiveNetwork({"width": 32, "dropout": 0.0})
    model.fit(programs[:10], programs[10:], TrainingOptions(epochs=10))
    rows = programs[0].features[0]
    for name in ("machine.level_2", "machine.vector_bits", "work.box"):
        others = [matrix.copy() for matrix in rows]
        for matrix in others:
            matrix[:, column(name)] *= 2
        np.testing.assert_array_equal(model.score([ScheduleRows(*others)]), model.score([rows]))


@pytest.mark.parametrize("bits", [256, 512])
def test_shipped_networks_know_what_to_do_with_other_caches(bits: int) -> None:
    def predicted(cache: int) -> list[list[float]]:
        caches = {1: 1 << 15, 2: cache, 3: 1 << 25}
        target = replace(Target.host(), caches=caches, vector_bits=bits)
        scheduled = original_schedule(TEXT, target=target).apply_all(
            parse_pipeline("tile{loops=i,j sizes=8,32}")
        )
        model = find_model("ensemble")
        assert isinstance(model, Ensemble)
        _, *networks = model.opinions(SchedulingContext(sizes(20, 64), 1), [scheduled])
        return [list(each) for each in networks]

    # All data are in the cache of level 1, whatever is behind it.
    expected = predicted(1 << 20)
    for cache in (1 << 18, 1 << 19, 5 << 18, 1 << 21):
        np.testing.assert_allclose(predicted(cache), expected, rtol=1e-6)


def test_the_same_seed_gives_the_same_network() -> None:
    programs = examples(6)
    models = [AdditiveNetwork({"width": 16}) for _ in range(3)]
    for model, seed in zip(models, (1, 1, 2), strict=True):
        model.fit(programs[:5], programs[5:], TrainingOptions(epochs=5, seed=seed))
    first, same, other = (model.score(programs[5].features) for model in models)
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_an_untrained_network_knows_that_instances_and_forks_take_time() -> None:
    original = original_schedule(TEXT)
    by_columns = original.apply_all(parse_pipeline("interchange{loops=j,i}"))
    forking = original.apply_all(parse_pipeline("parallel{loops=j}"))
    context = SchedulingContext(sizes(20, 24), 2)
    found = AdditiveNetwork({}).predict(context, [original, by_columns, forking])
    assert found[:2] == pytest.approx([1.0, 1.0])
    assert found[2] == pytest.approx(20 * 24e-9 / (20 * 24e-9 + 20 * 5e-6), rel=0.01)


def test_percentages_count_besides_logarithms() -> None:
    predicted = torch.tensor([2.0, 0.5, 30.0, 0.1])
    speedups = torch.ones(4)
    censored = torch.tensor([False, False, False, True])
    pairs = PairPool([None] * 4, speedups, censored)
    plain, both = (
        LogarithmPool(pairs, np.arange(4), AdditiveNetworkOptions(percentages=each))
        for each in (0.0, 0.5)
    )
    targets = plain.targets(range(4), torch.device("cpu"))
    differences = both.errors(predicted, targets) - plain.errors(predicted, targets)
    # Far too fast is no worse than 7.4 times; below the bound of a censored pair, nothing is wrong.
    expected = [0.5, 0.25, 0.5 * 6.4, 0.0]
    np.testing.assert_allclose(differences.numpy(), expected, rtol=1e-5)


def test_the_ensemble_is_the_geometric_mean() -> None:
    programs = examples(4)
    model = Ensemble({"forests": 2, "networks": 1, "share": 1.0})
    model.fit(programs, programs, TrainingOptions(epochs=5))
    features = programs[0].features
    expected = np.cbrt(model.trees.score(features) ** 2 * model.networks.score(features))
    np.testing.assert_allclose(model.score(features), expected, rtol=1e-5)


def test_an_interrupted_training_leaves_no_network_untrained() -> None:
    programs = examples(4)
    model = AdditiveNetwork({"members": 3, "width": 16})
    reports: list[int] = []

    def interrupt(progress: TrainingProgress) -> None:
        reports.append(progress.epoch)
        if len(reports) == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(programs, programs, TrainingOptions(epochs=5, report=interrupt))
    first, second, third = (each.state() for each in model.members)
    assert all(np.array_equal(second[name], third[name]) for name in second)
    assert not all(np.array_equal(first[name], second[name]) for name in first)


def test_mistakes_are_explained() -> None:
    with pytest.raises(LearningError, match="too few programs"):
        AdditiveNetwork({}).fit([], [], TrainingOptions())
    with pytest.raises(LearningError, match="did you mean networks"):
        Ensemble({"network": 3})


def test_the_mean_of_all_opinions_is_the_prediction() -> None:
    programs = examples(12)
    model = Ensemble({"networks": 3, "share": 1.0})
    model.fit(programs, programs, TrainingOptions(epochs=4))
    original = original_schedule(TEXT)
    schedules = [original, original.apply_all(parse_pipeline("unroll{loops=j factor=4}"))]
    context = SchedulingContext(sizes(12, 20), 1)
    assert isinstance(model, Committee) and not isinstance(AdditiveNetwork({}), Committee)
    trees, *networks = np.log(model.opinions(context, schedules))
    assert len(networks) == 3
    np.testing.assert_allclose(
        (trees + sum(networks)) / 4,
        np.log(model.predict(context, schedules)),
        rtol=1e-5,
        atol=1e-6,
    )
    assert len({float(each[1]) for each in networks}) > 1
