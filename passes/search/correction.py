"""Online correction of a model's predictions by measurements of the same program.

A Gaussian process on `log(measured / predicted)`: schedules that share steps, and the numbers in
them, are wrong by a similar factor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from ..schedules.schedule import Schedule, Transformation

LENGTH = 0.5
"""The distance of schedules (0: the same steps, 1: none in common) over which errors are alike."""

SCALE = 0.7
"""How far predictions are off, as a logarithm: by a factor of two."""

NOISE = 0.05
"""How far measurements are off, as a logarithm."""

LEAST = 1e-3
"""A speed-up below this, such as that of what cannot be run, counts as this one."""

Array = NDArray[np.float64]


class Correction:
    """Posterior of the logarithms of speed-ups, given predictions and some measurements."""

    def __init__(
        self,
        schedules: Sequence[Schedule],
        predicted: Sequence[float],
        measured: Sequence[float],
    ) -> None:
        """Learns from schedules with both."""
        self._words: dict[str, int] = {}
        self._sets = [self._numbers(schedule) for schedule in schedules]
        residuals = np.array(
            [log(max(LEAST, m) / max(LEAST, p)) for p, m in zip(predicted, measured, strict=True)]
        )
        self._mean = float(np.median(residuals)) if len(residuals) else 0.0
        covariance = self._covariance(self._sets, self._sets)
        covariance += NOISE**2 * np.eye(len(self._sets))
        self._inverse = np.linalg.inv(covariance)
        self._weights = self._inverse @ (residuals - self._mean)

    def expect(
        self, schedules: Sequence[Schedule], predicted: Sequence[float]
    ) -> tuple[Array, Array]:
        """The logarithm of each schedule's speed-up, and how uncertain it is."""
        logarithms = np.log(np.maximum(LEAST, np.array(predicted, dtype=np.float64)))
        sets = [self._numbers(schedule) for schedule in schedules]
        across = self._covariance(sets, self._sets)
        mean = logarithms + self._mean + across @ self._weights
        variance = SCALE**2 - np.einsum("ij,jk,ik->i", across, self._inverse, across)
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def _numbers(self, schedule: Schedule) -> list[int]:
        """The words that describe a schedule, as numbers."""
        words = {word for step in schedule.transformations for word in _words(step)}
        return sorted(self._words.setdefault(word, len(self._words)) for word in words)

    def _covariance(self, some: Sequence[Sequence[int]], others: Sequence[Sequence[int]]) -> Array:
        """By the share of words that two schedules have in common."""
        first, second = self._matrix(some), self._matrix(others)
        width = max(first.shape[1], second.shape[1])
        first = np.pad(first, ((0, 0), (0, width - first.shape[1])))
        second = np.pad(second, ((0, 0), (0, width - second.shape[1])))
        common = first @ second.T
        union = first.sum(1)[:, None] + second.sum(1)[None, :] - common
        distance = 1.0 - common / np.maximum(union, 1.0)
        distance[union == 0] = 0.0
        result: Array = SCALE**2 * np.exp(-distance / LENGTH)
        return result

    def _matrix(self, sets: Sequence[Sequence[int]]) -> Array:
        matrix = np.zeros((len(sets), len(self._words)))
        for row, numbers in enumerate(sets):
            matrix[row, list(numbers)] = 1.0
        return matrix


def _words(step: Transformation) -> list[str]:
    """A step with its loops, and the same with each of its options."""
    head = f"{step.name} {','.join(step.loops)}"
    options = (
        f"{head} {field.name}={getattr(step, field.name)}"
        for field in dataclasses.fields(step)
        if field.name != "loops"
    )
    return [head, *options]
