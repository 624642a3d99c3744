"""Metrics of predictions: errors, correlations, rankings.

All functions take two arrays of the same length: predicted and measured speed-ups.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def absolute_percentage_errors(predicted: Values, measured: Values) -> Values:
    """`|predicted - measured| / measured`, one by one."""
    return np.abs(predicted - measured) / measured


def mape(predicted: Values, measured: Values) -> float:
    """The mean absolute percentage error, as a share: 0.16 for 16 %."""
    return float(absolute_percentage_errors(predicted, measured).mean())


def pearson(predicted: Values, measured: Values) -> float:
    """The linear correlation; NaN where one side is constant."""
    if len(predicted) < 2 or np.ptp(predicted) == 0 or np.ptp(measured) == 0:
        return float("nan")
    return float(np.corrcoef(predicted, measured)[0, 1])


def spearman(predicted: Values, measured: Values) -> float:
    """The correlation of ranks, where equal values share the mean of theirs."""
    return pearson(ranks(predicted), ranks(measured))


def ranks(values: Values) -> Values:
    """Ranks from 1 up; equal values have the mean of their ranks."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[group]


def r_squared(predicted: Values, measured: Values) -> float:
    """The share of the variance that is explained; NaN where there is none."""
    variance = float(((measured - measured.mean()) ** 2).sum())
    if variance == 0:
        return float("nan")
    return 1 - float(((measured - predicted) ** 2).sum()) / variance


def ndcg(predicted: Values, measured: Values, best: int | None = None) -> float:
    """How much is gained by taking candidates in the predicted order, against the true one.

    The gain is the speed-up, divided by `log2(1 + rank)`; of the first `best` candidates, or of
    all. 1 is ideal. Candidates with the same prediction share the mean of their gains
    (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002; ties as
    in McSherry and Najork, "Computing information retrieval performance measures efficiently in
    the presence of tied scores", 2008).
    """
    discounts = 1 / np.log2(np.arange(len(measured)) + 2)
    if best is not None:
        discounts[best:] = 0
    ideal = float((np.sort(measured)[::-1] * discounts).sum())
    _, group, counts = np.unique(-predicted, return_inverse=True, return_counts=True)
    gains = np.bincount(group, measured) / counts
    shares = np.add.reduceat(discounts, np.cumsum(counts) - counts)
    return float((gains * shares).sum()) / ideal


def regret(predicted: Values, measured: Values) -> float:
    """The logarithm of how many times longer the choice takes than the best candidate.

    The choice is the candidate with the largest prediction; of several, the mean of theirs.
    """
    chosen = measured[predicted == predicted.max()]
    return float(np.log(measured.max() / chosen).mean())
