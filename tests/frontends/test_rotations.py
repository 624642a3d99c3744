"""Loops that swap or rotate arrays, against the undecorated functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import f64


def swapped(T: int, n: int, a: f64["n"], b: f64["n"]):
    for t in range(T):
        for i in range(1, n - 1):
            b[i] = a[i - 1] + 2 * a[i] - a[i + 1] + t
        a, b = b, a


def used_behind(T: int, n: int, a: f64["n"], b: f64["n"]):
    for _ in range(2, T):
        b[1:-1] = a[:-2] - a[2:]
        a, b = b, a
    a[0] = 7
    return a.copy(), np.sum(b), a[n - 1]


def with_a_temporary(T: int, n: int, a: f64["n"], b: f64["n"]):
    cur = a.copy()
    new = b.copy()
    for t in range(1, T, 2):
        for i in range(1, n):
            new[i] = cur[i - 1] * t - new[i]
        old = cur
        cur = new
        new = old
    return cur, new


def three(T: int, n: int, a: f64["n"], b: f64["n"]):
    c = np.zeros(n)
    for _ in range(T):
        for i in range(1, n - 1):
            c[i] = 2 * b[i] - a[i] + b[i + 1] - b[i - 1]
        a, b, c = b, c, a
    b[0] = c[1]
    return c.copy(), np.dot(a, b)


def twice(T: int, n: int, a: f64["n"], b: f64["n"]):
    for _ in range(T):
        b[1:] = a[:-1] + 1
        a, b = b, a
    for _ in range(3):
        b[1:] = a[:-1] - 2
        b, a = a, b
    b[0] = 9
    return b[n - 1]


def numbers_stay(T: int, n: int, a: f64["n"], b: f64["n"]):
    x, y = 1.0, 2.0
    for t in range(T):
        for i in range(n):
            a[i] = x + t
            b[i] = y
        x, y = y, x


def same_names(T: int, n: int, a: f64["n"], b: f64["n"]):
    for _ in range(T):
        total = 0.0
        for i in range(n):
            total += a[i]
        for i in range(n):
            b[i] = a[i] - total / n
        a, b = b, a


FUNCTIONS = (swapped, used_behind, with_a_temporary, three, twice, numbers_stay, same_names)


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_rotations(function: Callable[..., Any], schedule: str | None) -> None:
    compiled = loopwright.kernel(function).compile(schedule, threads=1)
    for n in (3, 10, 41):
        for steps in range(7):
            first = np.random.default_rng(n).integers(-3, 4, (2, n)).astype(float)
            ours, theirs = first.copy(), first.copy()
            found, expected = compiled(steps, n, *ours), function(steps, n, *theirs)
            np.testing.assert_array_equal(ours, theirs, str(steps))
            pairs = zip(_several(found), _several(expected), strict=True)
            for one, other in pairs:
                np.testing.assert_allclose(one, other, 1e-13, err_msg=str(steps))


def _several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,) if result is not None else ()


def test_an_argument_cannot_be_one_of_two() -> None:
    def returned(T: int, n: int, a: f64["n"], b: f64["n"]):
        for _ in range(T):
            b[1:] = a[:-1]
            a, b = b, a
        return a

    message = "'a' may be either argument behind the loop that swaps them.*a.copy()"
    with pytest.raises(loopwright.errors.SourceError, match=f"(?s){message}"):
        loopwright.kernel(returned)


def test_loops_that_are_no_rotations() -> None:
    def one_of_them(T: int, n: int, a: f64["n"], b: f64["n"]):
        for t in range(T):
            for i in range(n):
                a[i] += b[i] + t
            a = b

    with pytest.raises(loopwright.errors.SourceError, match="'a'"):
        loopwright.kernel(one_of_them)


def test_bounds_keep_their_values_where_an_array_is_returned() -> None:
    def bounded(T: int, n: int, a: f64["n"], b: f64["n"]):
        m = 2 * T + 1
        for _ in range(m):
            b[1:] = a[:-1]
            a, b = b, a
        m = 0
        return a[1]

    with pytest.raises(loopwright.errors.SourceError, match="'m' bounds the loop that swaps"):
        loopwright.kernel(bounded)
