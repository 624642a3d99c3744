"""Functions that kernels call and that are no kernels."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import f64

SCALE = 2.0


def clamped(x: Any, low: Any, high: Any = 0.9) -> Any:
    return min(max(x, low), high)


def scaled(v: Any, factor: float) -> Any:
    v *= factor
    return np.sum(v)


@loopwright.kernel
def calling(n: int, A: f64["n", "n"], B: f64["n", "n"]):
    shift = 3.0

    def weighted(x: Any, y: float = 1.0) -> Any:
        z = x * SCALE + shift
        return z * y

    def twice(x: Any) -> Any:
        return weighted(x) + weighted(x, y=2.0)

    square = lambda x: x * x  # noqa: E731
    for i in range(n):
        for j in range(n):
            B[i, j] = twice(A[i, j]) + square(clamped(A[i, j], 0.2))
        total = scaled(B[i], 0.5)
        B[i, 0] += total


@loopwright.kernel
def of_arrays(x: Any, y: Any):
    def distance(d: Any) -> Any:
        return np.sqrt(np.sum(d * d, axis=1))

    x = x * 2.0
    return distance(x - y) + distance(y)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_functions(n: int) -> None:
    random = np.random.default_rng(n)
    calling.check(n, random.random((n, n)), random.random((n, n)))


def test_functions_of_arrays() -> None:
    random = np.random.default_rng(0)
    of_arrays.check(random.random((4, 5)), random.random((4, 5)))
    of_arrays.check(random.random((4, 5)), random.random((1, 5)))


def test_pickles_have_the_numbers_of_nested_functions() -> None:
    again = pickle.loads(pickle.dumps(calling))
    random = np.random.default_rng(0)
    again.check(4, random.random((4, 4)), random.random((4, 4)))


def test_nested_functions_see_numbers_that_change() -> None:
    global SCALE
    before, SCALE = SCALE, 5.0
    try:
        with pytest.raises(loopwright.errors.SourceError, match=r"'SCALE' was 2\.0"):
            calling.check(2, np.ones((2, 2)), np.ones((2, 2)))
    finally:
        SCALE = before


def repeated(x: Any) -> Any:
    return repeated(x) + 1


def test_recursion_is_refused() -> None:
    with pytest.raises(loopwright.errors.SourceError, match="'repeated' calls itself"):

        @loopwright.kernel
        def never(n: int, x: f64["n"]):  # pyright: ignore[reportUnusedFunction]
            for i in range(n):
                x[i] = repeated(x[i])
