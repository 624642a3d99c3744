"""Reductions over generators, `divmod`, `%` and `//` of floats, compared with Python itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright import f32, f64, i32, i64

from .test_mistakes import message


def squares(n: int, A: f64["n"], B: i32["n"]):
    return sum(A[i] * A[i] for i in range(n))


def of_elements(n: int, A: f64["n"], B: i32["n"]):
    return sum(x - 1 for x in A), sum([b for b in B if b > 0], 5)


def rows(n: int, A: f64["n"], B: i32["n"]):
    i = 7
    for j in range(n):
        A[j] += i + sum(B[i] * (i - j) for i in range(j)) / 8
    return i


def nested(n: int, A: f64["n"], B: i32["n"]):
    return sum(max(B[i] - B[j] for j in range(n)) for i in range(n) if A[i] > 0.5)


def pairs(n: int, A: f64["n"], B: i32["n"]):
    return sum(A[i] * B[j] for i in range(n) for j in range(i, n) if B[j] != i)


def extremes(n: int, A: f64["n"], B: i32["n"]):
    low = min(abs(A[i] - 0.5) for i in range(n))
    return low, max(b * 2 for b in B), max(i - B[i] for i in range(n - 1, -1, -2))


def conditions(n: int, A: f64["n"], B: i32["n"]):
    if any(a > 0.9 for a in A):
        A[0] = -1
    elif all(b < 4 for b in B):
        A[0] = -2
    return any(B[i] == B[j] for i in range(n) for j in range(i))


def with_enumerate(n: int, A: f64["n"], B: i32["n"]):
    return sum(k * a * b for k, (a, b) in enumerate(zip(A, B)))  # noqa: B905


@pytest.mark.parametrize(
    "function", [squares, of_elements, rows, nested, pairs, extremes, conditions, with_enumerate]
)
@pytest.mark.parametrize("schedule", [None, "default"])
def test_reductions_over_generators(function: Callable[..., object], schedule: str | None) -> None:
    kernel = loopwright.kernel(function).compile(schedule)
    for seed in range(4):
        random = np.random.default_rng(seed)
        n = (1, 2, 9, 30)[seed]
        A, B = random.random(n), random.integers(-5, 6, n).astype(np.int32)
        A2, B2 = A.copy(), B.copy()
        expected, found = function(n, A, B), kernel(n, A2, B2)
        np.testing.assert_allclose(np.array(found), np.array(expected), rtol=1e-13)
        np.testing.assert_allclose(A2, A, rtol=1e-13)


def remainders(A: f64["n"], B: f64["n"], C: f64["n"]):
    for i in range(A.shape[0]):
        A[i], B[i], C[i] = A[i] % B[i], A[i] // B[i], math.fmod(A[i], B[i])


def divided(A: f32["n"], B: f32["n"], C: f32["n"]):
    for i in range(A.shape[0]):
        q, r = divmod(A[i], B[i])
        A[i], B[i], C[i] = q, r, np.fmod(A[i], B[i])


def integers(A: i64["n"], B: i64["n"], C: i64["n"]):
    for i in range(A.shape[0]):
        q, r = divmod(A[i], 7)
        A[i], B[i], C[i] = q, r, divmod(B[i], -3)[0]


def whole(A: f64["n"], B: f64["n"], C: f64["n"]):
    C[:] = np.fmod(A, B) + np.remainder(A, B) + np.floor_divide(A, 2)
    A[:] = A % 0.75 + A // B


@pytest.mark.parametrize("function", [remainders, divided, whole])
@pytest.mark.parametrize("schedule", [None, "default"])
def test_remainders_of_floats(function: Callable[..., object], schedule: str | None) -> None:
    kernel = loopwright.kernel(function).compile(schedule)
    element = np.float32 if function is divided else np.float64
    edges = [0.0, -0.0, 0.1, -0.1, 0.3, 1, -1, 3, -3, 1e300, 5e-324, 2.5, -7.5, 1e17, math.pi]
    edges += [np.inf, -np.inf, np.nan] if function is whole else []
    A, B = np.array([(a, b) for a in edges for b in edges if b]).T
    with np.errstate(all="ignore"):
        expected = [A.astype(element), B.astype(element), A.astype(element)]
        expected = [each[expected[1] != 0] for each in expected]
        if element is np.float32:
            fine = np.isfinite(expected[0]) & np.isfinite(expected[1])
            expected = [each[fine] for each in expected]
        found = [each.copy() for each in expected]
        function(*expected)
    kernel(*found)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one[one == 0]), np.signbit(other[one == 0]))


@pytest.mark.parametrize("schedule", [None, "default"])
def test_divmod_of_integers(schedule: str | None) -> None:
    found = [np.arange(-20, 20), np.arange(40) - 9, np.zeros(40, np.int64)]
    expected = [each.copy() for each in found]
    integers(*expected)
    loopwright.kernel(integers).compile(schedule)(*found)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def smallest(n: int, A: f64["n"]):
    return min(A[i] for i in range(n))


def largest(n: int, A: f64["n"]):
    return max(x for x in A)


def backwards(n: int, A: f64["n"]):
    return max(A[i] for i in range(n - 1, 0, -2))


def of_parts(n: int, A: f64["n"]):
    total = 0.0
    for i in range(1, n):
        total += min(A[j] for j in range(i)) + max(A[j] for j in range(i, n))
    return total


@pytest.mark.parametrize("function", [smallest, largest, backwards, of_parts])
def test_extremes_of_nothing(function: Callable[..., object]) -> None:
    kernel = loopwright.kernel(function)
    for n in range(5):
        A = np.random.default_rng(n).random(n)
        try:
            expected = function(n, A)
        except ValueError:
            with pytest.raises(loopwright.errors.SourceError, match="has no elements"):
                kernel(n, A)
        else:
            assert kernel(n, A) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A[0] = min(x for x in A if x > 0)", "needs its first element"),
        (
            "A[0] = max(A[i] for i in range(4) for j in range(i))",
            "'max' of a generator that may have no first element",
        ),
        (
            "k = 0\n    for i in range(4):\n        if A[i] > 0: k = i\n"
            "    A[0] = min(A[i] for i in range(k))",
            "no first element",
        ),
        ("A[0] = max((x for x in A), default=0)", "no further arguments"),
        ("A[0] = 1 if any(x > 0 for x in A) else 2", "in a conditional expression"),
        ("A[:] = [x + 1 for x in A]", "makes a list"),
        ("while any(x > 1 for x in A):\n        A[0] = 0", "condition of a 'while' loop"),
        ("s = f'{A[0]}'", "no text"),
    ],
)
def test_what_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    source = f'def f(A: f64["n"]):\n    {text}\n'
    assert reason in message(source, tmp_path / "kernel.py")
