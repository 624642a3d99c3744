"""Loops over sequences: the elements of arrays, `enumerate`, `zip`, and constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import f64

OFFSETS = [(-1, 0), (1, 0), (0, -1), (0, 1)]
WEIGHTS = (0.1, 0.2, 0.3, 0.4)


@loopwright.kernel
def stencil(n: int, m: int, A: f64["n", "m"], B: f64["n", "m"]):
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            total = 0.0
            for (dy, dx), weight in zip(OFFSETS, WEIGHTS):  # noqa: B905
                total += weight * A[i + dy, j + dx]
            for dy, dx in ((0, 1), (1, 0)):
                total -= A[i - dy, j - dx]
            B[i, j] = total


@loopwright.kernel
def elements(A: Any, x: Any, y: Any):
    total = 0.0
    for k, (p, q) in enumerate(zip(x, y)):  # noqa: B905
        total += p * q * k
    for row in A:
        row += 1.0
        for v in row:
            total += v
    for i, v in enumerate(x, 1):
        y[i - 1] = v * i
    for i in range(len(WEIGHTS), len(x)):
        for k, weight in enumerate(WEIGHTS):
            y[i] += weight * x[i - k]
    return total


@loopwright.kernel
def backwards(n: int, A: f64["n"]):
    total = 0.0
    for i in reversed(range(n - 1)):
        A[i] += 0.5 * A[i + 1]
    for i in reversed(range(n // 2, n)):
        A[i] -= A[i - n // 2]
    for k, v in enumerate(reversed(A)):
        total += k * v
    for w in reversed(WEIGHTS):
        total = total * w + 1
    for v in reversed(A):
        if v < 0.2:
            continue
        total += v
    return total


@pytest.mark.parametrize("n", [1, 3, 9])
def test_loops_over_constants(n: int) -> None:
    random = np.random.default_rng(n)
    stencil.check(n, n + 2, random.random((n, n + 2)), random.random((n, n + 2)))


@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_loops_over_elements(n: int) -> None:
    random = np.random.default_rng(n)
    elements.check(random.random((3, n)), random.random(n), random.random(n))


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_loops_that_run_backwards(n: int) -> None:
    backwards.check(n, np.random.default_rng(n).random(n) + 0.1)


def test_sequences_are_no_loops_at_run_time() -> None:
    assert "affine.for %dy" not in stencil.mlir
    assert stencil.mlir.count("affine.for") == 2
