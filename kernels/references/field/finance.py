"""NumPy versions of option pricing and statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_erf = np.vectorize(math.erf, otypes=[np.float64])


def black_scholes(n: int, spot: Array, strike: Array, time: Array, call: Array, put: Array) -> None:
    """European calls and puts, in double precision; the put by a formula of its own."""
    s, k, t = (each.astype(np.float64) for each in (spot, strike, time))
    rate, volatility = 0.02, 0.3
    deviation = volatility * np.sqrt(t)
    d1 = (np.log(s / k) + (rate + volatility**2 / 2) * t) / deviation
    d2 = d1 - deviation
    discounted = k * np.exp(-rate * t)

    def normal(x: Array) -> Array:
        return (1 + _erf(x / math.sqrt(2))) / 2

    call[...] = s * normal(d1) - discounted * normal(d2)
    put[...] = discounted * normal(-d2) - s * normal(-d1)


def american_put(options: int, steps: int, *arrays: Array) -> None:
    """American puts on a binomial tree, all options at once."""
    strike, price, value, put = arrays
    value[...] = np.maximum(strike[:, None] - price[::2], 0)
    for t in range(steps):
        nodes = steps - t
        hold = 0.4997 * value[:, 1 : nodes + 1] + 0.5001 * value[:, :nodes]
        value[:, :nodes] = np.maximum(hold, strike[:, None] - price[t + 1 : t + 2 * nodes : 2])
    put[...] = value[:, 0]


def asian_paths(paths: int, steps: int, normal: Array, payoff: Array) -> None:
    """The payoff of an Asian option."""
    logarithms = np.cumsum(0.0001 + 0.02 * normal.astype(np.float64), 1)
    payoff[...] = np.maximum(100 * np.exp(logarithms).mean(1) - 100, 0)


def covariance_rows(assets: int, days: int, returns: Array, mean: Array, covariance: Array) -> None:
    """Covariances of the rows."""
    mean[...] = returns.mean(1)
    centred = returns - mean[:, None]
    covariance[...] = centred @ centred.T / days


def rolling_statistics(
    series: int, n: int, window: int, x: Array, mean: Array, variance: Array
) -> None:
    """Mean and variance in a moving window."""
    windows = np.lib.stride_tricks.sliding_window_view(x[:, :-1], window, 1)
    mean[...] = windows.mean(2)
    for row in range(series):
        variance[row] = windows[row].var(1)


def moments(rows: int, n: int, x: Array, summary: Array) -> None:
    """Statistics of every row."""
    mean, variance = x.mean(1), x.var(1)
    scaled = (x - mean[:, None]) / np.sqrt(variance)[:, None]
    columns = (mean, variance, (scaled**3).mean(1), (scaled**4).mean(1), x.min(1), x.max(1))
    for place, column in enumerate(columns):
        summary[:, place] = column


def logistic_gradient(samples: int, features: int, *arrays: Array) -> None:
    """The gradient of logistic regression."""
    x, target, weights, error, gradient = arrays
    error[...] = 1 / (1 + np.exp(-(x @ weights))) - target
    np.matmul(error, x, out=gradient)


def autocorrelation(n: int, lags: int, x: Array, r: Array) -> None:
    """Sums of products of a series with itself."""
    for lag in range(lags):
        r[lag] = x[:n] @ x[lag : lag + n]


def rolling_covariance(series: int, n: int, x: Array, y: Array, covariance: Array) -> None:
    """Covariances of windows, in double precision."""
    a, b = (np.lib.stride_tricks.sliding_window_view(each.astype(float), 20, 1) for each in (x, y))
    covariance[...] = (a * b).mean(2) - a.mean(2) * b.mean(2)


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            *(black_scholes, american_put, asian_paths, covariance_rows, rolling_statistics),
            *(moments, logistic_gradient, autocorrelation, rolling_covariance),
        )
    }
)
