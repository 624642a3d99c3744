"""`else` behind loops, and what `while` loops read, compared with Python itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import loopwright


def nearest(X, q):
    best, least = -1, 1e9
    for i in range(X.shape[0]):
        d = 0.0
        for k in range(X.shape[1]):
            d += (X[i, k] - q[k]) * (X[i, k] - q[k])
            if d >= least:
                break
        else:
            least = d
            best = i
    return best, least


def all_return(X, q):
    for i in range(X.shape[0]):
        if X[i, 0] > q[0] + 1:
            return i
    else:
        return -5


def without_break(X, q):
    for i in range(X.shape[0]):
        X[i, 0] += 1
    else:
        q[0] = 3
    return 0


def while_loops(X, q):
    n = X.shape[0]
    for i in range(n):
        j = 0
        while j < n:
            if X[j, 0] > X[i, 1] + 1:
                break
            j += 1
        else:
            X[i, 2] = 2
            continue
        if j > 3:
            break
        X[i, 2] += 1
    else:
        q[0] += 10
    return 0


def of_both_loops(X, q):
    for i in range(X.shape[0]):
        for j in range(X.shape[0]):
            if X[i, 0] + X[j, 1] > 2.5:
                return i * 100 + j
            if X[j, 0] < -2:
                break
        else:
            if X[i, 1] > q[1]:
                break
    else:
        return -1
    return -2


@pytest.mark.parametrize(
    "function", [nearest, all_return, without_break, while_loops, of_both_loops]
)
def test_else_is_for_loops_that_do_not_break(function: Callable[..., object]) -> None:
    kernel = loopwright.kernel(function)
    for seed, n in enumerate((1, 1, 2, 3, 5, 8, 13, 13, 13, 30)):
        random = np.random.default_rng(seed)
        X, q = random.standard_normal((n, 3)), random.standard_normal(3)
        found = X.copy(), q.copy()
        expected = function(X, q)
        np.testing.assert_allclose(kernel(*found), expected, rtol=1e-14)
        np.testing.assert_array_equal(found[0], X)
        np.testing.assert_array_equal(found[1], q)


@loopwright.kernel
def search(A, x):
    i = 0
    while i < len(A) and A[i] != x:
        i += 1
    return i


@loopwright.kernel
def of_data(A, B, x):
    s = 0.0
    for i in range(len(A)):
        if A[i] < 0:
            break
        s += B[A[i]] if A[i] > 0 else x
        if A[i] > 3 and B[A[i] - 1] > 0:
            s += 1
        if A[i] > 4:
            s += B[A[i] - 5]
    return s


def test_nothing_is_read_that_python_does_not_read() -> None:
    assert search(np.empty(0), 3.0) == 0
    assert search(np.arange(5.0), 3.0) == 3
    assert of_data(np.array([0, 0, -1, 7]), np.empty(0), 1.5) == 3
    with pytest.raises(loopwright.errors.OutOfBounds):
        of_data(np.array([1]), np.empty(0), 1.5)
