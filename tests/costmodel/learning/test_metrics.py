"""Metrics against scipy and against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from loopwright.costmodel.learning import metrics


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("distinct", [3, 1000])
def test_correlations_are_those_of_scipy(seed: int, distinct: int) -> None:
    random = np.random.default_rng(seed)
    predicted = random.integers(0, distinct, 60) / 7.0
    measured = random.integers(0, distinct, 60) / 3.0 + 0.5 * predicted
    assert metrics.pearson(predicted, measured) == pytest.approx(
        stats.pearsonr(predicted, measured).statistic
    )
    assert metrics.spearman(predicted, measured) == pytest.approx(
        stats.spearmanr(predicted, measured).statistic
    )
    assert np.array_equal(metrics.ranks(predicted), stats.rankdata(predicted))


def test_a_constant_side_has_no_correlation() -> None:
    constant, other = np.ones(4), np.arange(4.0)
    assert math.isnan(metrics.pearson(constant, other))
    assert math.isnan(metrics.spearman(other, constant))
    assert math.isnan(metrics.spearman(np.ones(1), np.ones(1)))
    assert math.isnan(metrics.r_squared(other, constant))


def test_mape_by_hand() -> None:
    assert metrics.mape(np.array([1.0, 3.0]), np.array([2.0, 2.0])) == pytest.approx(0.5)
    assert metrics.mape(np.array([2.2, 0.9]), np.array([2.0, 1.0])) == pytest.approx(0.1)


def test_r_squared_by_hand() -> None:
    measured = np.array([1.0, 2.0, 3.0])
    assert metrics.r_squared(measured, measured) == 1
    assert metrics.r_squared(np.full(3, 2.0), measured) == 0
    assert metrics.r_squared(np.array([1.0, 2.0, 2.0]), measured) == pytest.approx(0.5)


def test_ndcg_by_hand() -> None:
    measured = np.array([3.0, 1.0, 2.0])
    assert metrics.ndcg(measured, measured) == pytest.approx(1)
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    reversed_order = 1 + 2 / math.log2(3) + 3 / 2
    assert metrics.ndcg(-measured, measured) == pytest.approx(reversed_order / ideal)
    assert metrics.ndcg(np.array([0.0, 2.0, 1.0]), measured, 1) == pytest.approx(1 / 3)
    assert metrics.ndcg(np.array([0.0, 2.0, 1.0]), measured, 2) == pytest.approx(
        (1 + 2 / math.log2(3)) / (3 + 2 / math.log2(3))
    )


def test_equal_predictions_share_their_gains() -> None:
    measured = np.array([4.0, 1.0, 1.0])
    assert metrics.ndcg(np.zeros(3), measured, 1) == pytest.approx(2 / 4)
    # All orders of the tie, on average.
    discounts = np.array([1, 1 / math.log2(3), 1 / 2])
    assert metrics.ndcg(np.zeros(3), measured) == pytest.approx(
        2 * discounts.sum() / (np.array([4, 1, 1]) * discounts).sum()
    )
