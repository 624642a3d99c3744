"""Named values, constants of classes, lists that are written out, loops over flattened arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import loopwright


@dataclass(frozen=True)
class Parameters:
    """What a program is run with."""

    dt: float = 0.5
    steps: int = 3
    weights: tuple[float, ...] = (1.0, 2.0, 1.0)


class Settings:
    """Constants of a class."""

    alpha = 0.25
    LAST = 2


P = Parameters()


def conditions(x: Any, y: Any) -> None:
    for i in range(x.shape[0]):
        if (v := x[i] * 2) > 3 and v < 9:
            y[i] = v
        elif (w := y[i]) < 0:
            y[i] = w + v


def halves(x: Any, y: Any) -> None:
    for i in range(x.shape[0]):
        k = int(abs(x[i]) * 4)
        count = 0
        while (k := k // 2) > 0:
            count += 1
            if count > 3:
                break
        y[i] = count + (t := 2.0) + t


def in_order(x: Any, y: Any) -> None:
    k = -1
    for i in range(x.shape[0]):
        y[i] += (v := x[i]) * v
        y[i] -= w if (w := y[(k := k + 1)]) > 1 else -w
        y[k] = (k := i) + 1


def both_sides(x: Any, y: Any) -> None:
    k = 1.0
    for i in range(x.shape[0]):
        if (k := k + x[i]) > 2.0 > x[i]:
            k -= 1.0
        y[i] = k


def constants(x: Any, y: Any) -> None:
    for _ in range(P.steps):
        for i in range(1, x.shape[0] - Settings.LAST):
            for k in range(3):
                y[i] += P.dt * P.weights[k] * x[i + k - 1] + Settings.alpha


def lists(x: Any, y: Any) -> None:
    w = [1.0 / (k + 1) for k in range(5)]
    u = [2.0] * 3
    v = np.array([k * k for k in (1, 2, 3)])
    for i in range(4, x.shape[0]):
        for k in range(5):
            y[i] += w[k] * x[i - k] * u[k % 3] + v[k % 3]


def flattened(x: Any, y: Any) -> None:
    a = np.outer(x, y)
    total = 0.0
    for v in a.flat:
        total += v
    for i, v in enumerate(a.ravel()):
        total += i * v
    for v, w in zip(a.reshape(-1), x):  # noqa: B905
        total -= v * w
    for row in x.reshape(-1, 2):
        total += row[0] * row[1]
    y[0] = total


FUNCTIONS = [conditions, halves, in_order, both_sides, constants, lists, flattened]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("schedule", ["", "default"])
def test_function(function: Callable[..., None], schedule: str) -> None:
    kernel: Any = loopwright.kernel(function)
    for n in (2, 6, 18):
        random = np.random.default_rng(n)
        x, y = random.integers(-9, 12, n) / 4, random.integers(-9, 12, n) / 4
        expected = y.copy()
        function(x.copy(), expected)
        kernel.typed(x, y).compile(schedule, threads=1, verify=True)(x, y)
        np.testing.assert_allclose(y, expected, 1e-13, 1e-13)


def test_constants_that_change() -> None:
    x, y = np.ones(6), np.ones(6)
    kernel = loopwright.kernel(constants)
    kernel.check(x, y)
    before, Settings.alpha = Settings.alpha, 0.5
    try:
        with pytest.raises(loopwright.errors.SourceError, match=r"'Settings.alpha' was 0.25"):
            kernel.check(x, y)
    finally:
        Settings.alpha = before


def assigned_twice(x: Any) -> None:
    for i in range(x.shape[0]):
        x[i] = (v := x[i]) + (v := x[i] * 3)
        x[i] += v


def read_before(x: Any) -> None:
    k = 16
    while k > (k := k // 2):
        x[0] += k


def moved_target(x: Any) -> None:
    k = 0
    for _ in range(x.shape[0]):
        x[(k := k + 1) - 1] = k


@pytest.mark.parametrize("function", [assigned_twice, read_before, moved_target])
def test_another_order_is_refused(function: Callable[..., None]) -> None:
    with pytest.raises(loopwright.errors.SourceError, match=r"'[vk]' is assigned where"):
        loopwright.kernel(function).check(np.ones(6))
