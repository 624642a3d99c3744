"""Variables of Python functions that are true or false, compared with Python itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import loopwright
from loopwright import f64, i32
from loopwright.dialects.errors import SourceError


def in_conditions(n: int, A: f64["n"], out: i32["n"]):
    for i in range(n):
        large = A[i] > 0.5
        odd = i % 2 == 1 and not large
        if (large and out[i] > 0) or odd:
            out[i] = 7
        A[i] = 2.0 if odd else A[i]


def found(n: int, A: f64["n"], out: i32["n"]):
    seen = False
    for i in range(n):
        if A[i] > 0.8:
            seen = True
        if not seen:
            A[i] = 1.0
    out[0] = seen
    A[0] = seen


def all_of_them(n: int, A: f64["n"], out: i32["n"]):
    good = True
    for i in range(n):
        good = good and A[i] > 0.1
    both = good
    if both:
        out[0] = 5


def while_true(n: int, A: f64["n"], out: i32["n"]):
    i = 0
    going = True
    while going and i < n:
        going = A[i] < 0.7
        i += 1
    out[0] = i


def nans(n: int, A: f64["n"], out: i32["n"]):
    for i in range(n):
        x = A[i] / (A[i] - A[i])
        small = not x > 0.0
        if small:
            out[i] = 3


def in_targets(n: int, A: f64["n"], out: i32["n"]):
    large = A[0] > 0.5
    small = A[0] < 0.2
    for i in range(n):
        x = A[i]
        A[0 if large else i] = x
        out[0 if not small else i] = large


@pytest.mark.parametrize(
    "function",
    [in_conditions, found, all_of_them, while_true, nans, in_targets],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("n", [1, 8])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_truth_variables(function: Callable[..., object], n: int) -> None:
    kernel = loopwright.kernel(function)
    for seed in range(6):
        source = np.random.default_rng(seed)
        kernel.check(n, source.random(n), source.integers(-1, 2, n).astype(np.int32))


def sum_of_truths(n: int, A: f64["n"], out: i32["n"]):
    for i in range(n):
        one = A[i] > 0.5
        out[i] = one + one


def updated(n: int, A: f64["n"], out: i32["n"]):
    one = n > 3
    for i in range(n):
        one += A[i] > 0.5
    out[0] = one


def whole(n: int, A: f64["n"], out: i32["n"]):
    one = A > 0.5
    if one:
        out[0] = 1


@pytest.mark.parametrize("function", [sum_of_truths, updated, whole])
def test_what_would_mean_something_else_is_refused(function: Callable[..., object]) -> None:
    with pytest.raises(SourceError):
        _ = loopwright.kernel(function).mlir
