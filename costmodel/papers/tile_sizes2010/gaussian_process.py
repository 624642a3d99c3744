"""Gaussian-process regression with a Matern 5/2 kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

START = 0.4
"""The first guess of the distance over which times are alike."""

FACTORS = (0.5, 2.0)
"""How these distances are changed in search of better ones."""

SHORTEST, LONGEST = 0.05, 8.0

NOISE = (1e-4, 1e-3, 1e-2, 5e-2)
"""Shares of the variance that may come from measuring."""

ROUNDS = 3

_AT_ONCE = 256
"""Points whose covariances fit into a cache."""


@dataclass(frozen=True)
class Scales:
    """Length scale of each input, and the noise variance."""

    lengths: tuple[float, ...]
    noise: float


class GaussianProcess:
    """Posterior mean of a Gaussian process: Matern 5/2 covariance, a length scale for each input.

    `evidence` is the logarithm of how likely the given values are with these scales.
    """

    def __init__(self, inputs: Array, values: Array, scales: Scales) -> None:
        self.scales = scales
        self._lengths = np.array(scales.lengths)
        self._inputs = inputs / self._lengths
        self._mean = float(values.mean())
        self._deviation = float(values.std()) or 1.0
        covariance = _matern(self._inputs, self._inputs) + scales.noise * np.eye(len(inputs))
        self._factor: Array = np.asarray(np.linalg.cholesky(covariance), np.float64)
        normal: Array = (values - self._mean) / self._deviation
        self._weights = _solve(covariance, normal)
        fit = 0.5 * float(normal @ self._weights)
        self.evidence = -fit - float(np.log(np.diag(self._factor)).sum())

    def mean(self, inputs: Array) -> Array:
        """The expected value at each point."""
        found = [
            _matern(some / self._lengths, self._inputs) @ self._weights
            for some in np.array_split(inputs, max(1, len(inputs) // _AT_ONCE))
        ]
        return self._mean + self._deviation * np.concatenate(found)

    def most_hopeful(self, inputs: Array, count: int, curiosity: float) -> list[int]:
        """The rows with the least values that can be hoped for, one after the other.

        Hoped for is the expected value less `curiosity` standard deviations. Each is chosen as if
        those before it had been measured and were as expected: points beside them hold no surprise
        any more, and a batch spreads over all that is promising.
        """
        scaled = inputs / self._lengths
        expected = self.mean(inputs)
        told = _solve(self._factor, _matern(scaled, self._inputs).T)
        unknown = 1.0 - (told * told).sum(0)
        chosen: list[int] = []
        for _ in range(min(count, len(inputs))):
            deviations = self._deviation * np.sqrt(np.maximum(unknown, 1e-12))
            hope = expected - curiosity * deviations
            hope[chosen] = np.inf
            best = int(hope.argmin())
            chosen.append(best)
            shared = _matern(scaled[best : best + 1], scaled)[0] - told[:, best] @ told
            row = shared / np.sqrt(max(shared[best], 0.0) + self.scales.noise)
            told = np.vstack([told, row])
            unknown = unknown - row * row
        return chosen


def fit(inputs: Array, values: Array, start: Scales | None = None) -> GaussianProcess:
    """The process with the most likely scales that a few steps from `start` lead to."""
    first = start or Scales((START,) * inputs.shape[1], NOISE[2])
    best = GaussianProcess(inputs, values, first)
    for _ in range(1 if start else ROUNDS):
        before = best.evidence
        for change in _changes(best.scales):
            process = GaussianProcess(inputs, values, change(best.scales))
            if process.evidence > best.evidence:
                best = process
        if best.evidence == before:
            break
    return best


def _changes(scales: Scales) -> list[Callable[[Scales], Scales]]:
    """Another length for one input, or another share of noise."""
    places = range(len(scales.lengths))
    lengths = [partial(_longer, position, factor) for position in places for factor in FACTORS]
    return [*lengths, *(partial(_noisier, noise) for noise in NOISE)]


def _longer(position: int, factor: float, scales: Scales) -> Scales:
    lengths = list(scales.lengths)
    lengths[position] = min(max(lengths[position] * factor, SHORTEST), LONGEST)
    return Scales(tuple(lengths), scales.noise)


def _noisier(noise: float, scales: Scales) -> Scales:
    return Scales(scales.lengths, noise)


def _solve(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right), np.float64)


def _matern(some: Array, others: Array) -> Array:
    """Covariances by distance: (1 + d + d^2 / 3) exp(-d), with d = sqrt(5) |x - y|."""
    squares = (some**2).sum(1)[:, None] + (others**2).sum(1)[None, :] - 2.0 * some @ others.T
    distances = np.sqrt(5.0 * np.maximum(squares, 0.0))
    return (1.0 + distances + distances**2 / 3.0) * np.exp(-distances)
