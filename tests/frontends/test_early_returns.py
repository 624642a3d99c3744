"""`return` before the end of a Python function, compared with Python itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import loopwright
from loopwright import f64, i32
from loopwright.dialects.errors import SourceError


def first_above(n: int, A: f64["n"], t: float):
    for i in range(n):
        if A[i] > t:
            return i
    return -1


def pair_of(n: int, A: f64["n"], t: float):
    for i in range(n):
        for j in range(i):
            if A[i] + A[j] > 2 * t:
                return i, j
        if A[i] > 2 * t:
            return i, i
    return -1, -1


def value_of(n: int, A: f64["n"], t: float):
    if n == 0:
        return 0.0
    s = 0.0
    for v in A:
        if v > t:
            return v
        s += v
    if s > t:
        return s
    else:  # noqa: RET505
        return s / n


def until(n: int, A: f64["n"], t: float):
    for i in range(n):
        for j in range(n):
            if A[j] > t + i:
                return
            A[j] += 0.25


def one_array(n: int, A: f64["n"], t: float):
    out = np.zeros(n)
    if n < 3:
        return out
    for i, v in enumerate(A):
        if v > t:
            return out
        out[i] = v
    return out


def helper(n: int, A: f64["n"], t: float):
    def sign(x, eps=0.1):
        if x > eps:
            return 1.0
        elif x < -eps:  # noqa: RET505
            return -1.0
        return 0.0

    for i in range(n):
        A[i] = sign(A[i] - t)
    return A


def search_down(n: int, A: f64["n"], t: float):
    i = n - 1
    while i >= 0:
        if A[i] > t:
            return i, A[i]
        i -= 1
    return i, t


FUNCTIONS = (first_above, pair_of, value_of, until, one_array, helper, search_down)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
def test_results_are_those_of_python(function: Callable[..., object], n: int) -> None:
    kernel = loopwright.kernel(function)
    for t in (-1.0, 0.5, 0.9, 2.0):
        A = np.random.default_rng(n).random(n)
        kernel.check(n, A, t)
        expected, found = kernel.python(n, A.copy(), t), kernel(n, A.copy(), t)
        np.testing.assert_equal(found, expected)


def same_name_twice(n: int, A: f64["n"], result: i32["n"]):
    for k in range(n):
        if result[k] > 2:
            returned = k + 1
            return returned  # noqa: RET504
    return 0


def test_new_variables_have_names_of_their_own() -> None:
    kernel = loopwright.kernel(same_name_twice)
    for n in (0, 1, 9):
        assert kernel(n, np.zeros(n), np.arange(n, dtype=np.int32)) == (4 if n == 9 else 0)


def nothing_at_the_end(n: int, A: f64["n"]):  # noqa: RET503
    for i in range(n):
        if A[i] > 0:
            return i


def other_number(n: int, A: f64["n"]):
    if n > 3:
        return A[0]
    return A[0], n


def always(n: int, A: f64["n"]):
    for i in range(n):
        return A[i]
    return 0.0


def two_arrays(n: int, A: f64["n"]):
    if n > 3:
        return A * 2
    return A + 1


def float_or_integer(n: int, A: f64["n"]):
    for i in range(n):
        if A[i] > 0:
            return i
    return A[0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (nothing_at_the_end, "may end here without 'return'"),
        (other_number, "another number of values"),
        (always, "ends with 'return' the first time"),
        (two_arrays, "an array is returned before the end"),
        (float_or_integer, "changes its type from int to f64"),
    ],
)
def test_refusals(function: Callable[..., object], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        loopwright.kernel(function)
