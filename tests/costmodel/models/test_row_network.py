"""The network over rows in NumPy, its gradient and its optimiser, against torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
import torch
from support.scaled_rows import examples
from torch import Tensor

from loopwright.costmodel.models import row_network
from loopwright.costmodel.models.adamw import AdamW
from loopwright.costmodel.models.additive_network_adapting import Pairs, gradient
from loopwright.costmodel.models.additive_network_training import (
    LogarithmPool,
    TrainedSum,
    collate,
)
from loopwright.costmodel.models.additive_sum import (
    FORKS,
    AdditiveNetworkOptions,
    AdditiveSum,
)
from loopwright.costmodel.models.row_network import RowBatch, RowNetwork
from loopwright.costmodel.models.row_network_training import TensorRows, TrainedRowNetwork
from loopwright.costmodel.models.tensors import arrays_of

CPU = torch.device("cpu")


def some_weights(network: torch.nn.Module, seed: int = 0) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        for weights in network.parameters():
            if weights.ndim:
                torch.nn.init.normal_(weights, std=0.3)


def test_it_gives_what_torch_gives_also_where_rows_are_alike() -> None:
    random = np.random.default_rng(1)
    rows = random.integers(0, 3, (60, 4)).astype(np.float32)
    rows[5:50] *= 1e6
    groups = [rows[:7], rows[7:8], rows[8:]]
    trained = TrainedRowNetwork(4, 0, 8, dropout=0.2).eval()
    some_weights(trained)
    trained.standardise(rows, [2])
    network = RowNetwork(4, 0, 8)
    network.restore(arrays_of(trained))
    batch = RowBatch.of(groups)
    assert len(batch.unique) < len(rows)
    with torch.inference_mode():
        expected = trained(TensorRows.of(groups, CPU)).numpy()
    assert len(np.unique(expected)) > 10
    np.testing.assert_allclose(network.factors(batch), expected, rtol=1e-5)


def test_fresh_networks_correct_nothing() -> None:
    batch = RowBatch.of([np.ones((3, 4), np.float32)])
    np.testing.assert_array_equal(RowNetwork(4, 0, 8).factors(batch), np.ones(3))


def test_very_negative_values_do_not_overflow() -> None:
    with np.errstate(all="raise", under="ignore"):
        found = row_network.sigmoid(np.array([-1e5, 0.0, 1e5], np.float32))
    np.testing.assert_allclose(found, [0.0, 0.5, 1.0], atol=1e-30)


@pytest.mark.parametrize("censored", [False, True])
def test_the_gradient_is_that_of_torch(censored: bool) -> None:
    options = AdditiveNetworkOptions(width=16, dropout=0.0)
    programs = examples(3)
    for program in programs:
        program.speedups[:] *= np.linspace(0.05, 3.0, len(program.speedups))
        program.censored[::2] = censored
        for each in program.features[1::2]:
            each.scheduled[:, FORKS] = 1.0
    trained = TrainedSum(options)
    some_weights(trained)
    trained.rows.standardise(np.concatenate([e.scheduled for p in programs for e in p.features]))
    member = AdditiveSum(options.width)
    member.restore(arrays_of(trained))
    pool = LogarithmPool.with_options(programs, options)
    numbers = range(len(pool.features))
    predicted = trained.train()(collate(pool.features, CPU))
    loss = pool.errors(predicted, pool.targets(numbers, CPU)).mean()
    cast(Any, loss).backward()
    error, found = gradient(member, Pairs.of(programs), options, np.random.default_rng(0))
    assert error == pytest.approx(loss.item(), rel=1e-4)
    expected = {
        name.removeprefix("rows."): cast(Tensor, values.grad).numpy()
        for name, values in trained.named_parameters()
    }
    assert set(found) == set(expected)
    for name, values in expected.items():
        scale = float(np.abs(values).max())
        assert scale > 0
        np.testing.assert_allclose(found[name], values, rtol=1e-3, atol=1e-4 * scale)


@pytest.mark.parametrize("steps", [1, 5, 20])
def test_the_optimiser_is_that_of_torch(steps: int) -> None:
    random = np.random.default_rng(2)
    weights: Mapping[str, Any] = {"a": random.random((3, 2), np.float32)}
    tensor = torch.nn.Parameter(torch.tensor(weights["a"]))
    theirs = torch.optim.AdamW([tensor], lr=0.1, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(theirs, max_lr=0.1, total_steps=steps)
    ours = AdamW(0.1, 0.05, steps, longest=1.0)
    for _ in range(steps):
        slopes = random.standard_normal((3, 2)).astype(np.float32)
        weights = ours.step(weights, {"a": slopes})
        tensor.grad = torch.tensor(slopes)
        cast(Any, torch.nn.utils.clip_grad_norm_)([tensor], 1.0)
        cast(Any, theirs).step()
        schedule.step()
        np.testing.assert_allclose(weights["a"], tensor.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_rankings_are_softmax_over_the_schedules_of_a_program() -> None:
    options = AdditiveNetworkOptions(
        tolerance=1.0, caution=0.0, percentages=0.0, ranking=2.0, sharpness=0.5
    )
    programs = [replace(each, speedups=each.speedups * 0 + 1.0) for each in examples(2)]
    pool = LogarithmPool.with_options(programs, options)
    count = len(programs[0].features)
    # The second program first, and one pair of the first.
    chosen = [*range(count, 2 * count), 0]
    predicted = torch.ones(count + 1)
    predicted[0] = 2.0
    found = pool.errors(predicted, pool.targets(chosen, CPU))
    total = 2.0**2 + count - 1
    expected = [np.log(2) ** 2 / 2 - 2 * np.log(4 / total) / count]
    expected += [2 * np.log(total) / count] * (count - 1)
    np.testing.assert_allclose(found.numpy(), [*expected, 0.0], rtol=1e-5)


def test_programs_stay_together_where_rankings_count() -> None:
    programs = examples(5)
    pool = LogarithmPool.with_options(programs, AdditiveNetworkOptions(ranking=1.0))
    order = pool.order(torch.Generator().manual_seed(3))
    count = len(programs[0].features)
    owners = [pair // count for pair in order]
    assert sorted(order) == list(range(5 * count))
    assert owners != sorted(owners)
    assert sum(a != b for a, b in pairwise(owners)) == 4
