"""AdamW with one cycle of learning rates and momenta, in NumPy."""

from __future__ import annotations

import math

import numpy as np

from .row_network import Matrix, Weights

Gradient = dict[str, Matrix]

_BETA = 0.999
_RISE = 0.3
_DIVISOR = 25.0
_LAST_DIVISOR = 1e4
_LEAST_MOMENTUM, _MOST_MOMENTUM = 0.85, 0.95


class AdamW:
    """AdamW with the learning rate and momentum of one cycle, as torch has them.

    Sources: Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019; Smith and
    Topin, "Super-convergence", 2019 (cosine annealing, as `OneCycleLR`).
    """

    def __init__(self, rate: float, decay: float, steps: int, longest: float) -> None:
        """For so many steps; gradients longer than `longest` are shortened."""
        self._rate, self._decay, self._steps, self._longest = rate, decay, steps, longest
        self._done = 0
        self._first: Gradient = {}
        self._second: Gradient = {}

    def step(self, weights: Weights, gradient: Gradient) -> Gradient:
        """The next weights; those without a gradient stay."""
        rate, momentum = self._cycle()
        self._done += 1
        squares = (float((each.astype(np.float64) ** 2).sum()) for each in gradient.values())
        scale = np.float32(min(1.0, self._longest / (math.sqrt(sum(squares)) + 1e-6)))
        step = rate / (1.0 - momentum**self._done)
        unbiased = np.float32(math.sqrt(1.0 - _BETA**self._done))
        result = dict(weights)
        for name, whole in gradient.items():
            slopes = whole * scale
            first = self._first.get(name, np.zeros_like(slopes))
            second = self._second.get(name, np.zeros_like(slopes))
            first = np.float32(momentum) * first + np.float32(1.0 - momentum) * slopes
            second = np.float32(_BETA) * second + np.float32(1.0 - _BETA) * slopes**2
            self._first[name], self._second[name] = first, second
            kept = weights[name] * np.float32(1.0 - rate * self._decay)
            length = np.sqrt(second) / unbiased + np.float32(1e-8)
            result[name] = kept - np.float32(step) * first / length
        return result

    def _cycle(self) -> tuple[float, float]:
        """Learning rate and momentum of the next step."""
        rise = _RISE * self._steps - 1
        if self._done <= rise:
            share = self._done / rise
            return (
                _between(self._rate / _DIVISOR, self._rate, share),
                _between(_MOST_MOMENTUM, _LEAST_MOMENTUM, share),
            )
        share = (self._done - rise) / (self._steps - 1 - rise)
        return (
            _between(self._rate, self._rate / _DIVISOR / _LAST_DIVISOR, share),
            _between(_LEAST_MOMENTUM, _MOST_MOMENTUM, share),
        )


def _between(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2.0 * (1.0 + math.cos(math.pi * share))
