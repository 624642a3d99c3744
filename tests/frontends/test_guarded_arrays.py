"""Statements on arrays under conditions that depend on data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright


def added(x: Any, d: Any, A: Any, k: Any) -> Any:
    s = np.zeros(x.shape[0])
    for i in range(A.shape[0]):
        if d[i] > 0:
            s += A[i]
        else:
            s -= 0.5 * A[i]
    return s


def updated(x: Any, d: Any, A: Any, k: Any) -> Any:
    if d[0] > 0:
        x[:] = A.sum(axis=0)
        A *= 2
    elif d[1] > 0:
        x += d[0] * A[1]
        A[1:] = A[:-1]
    else:
        x[::2] = 0
    if x[0] < d[0]:
        A[:] = np.outer(d, x)
        A[0] += d @ A


def local(x: Any, d: Any, A: Any, k: Any) -> Any:
    t = 0.0
    for i in range(A.shape[0]):
        if d[i] > 0.3:
            y = A[i] * 2
            place = np.argmax(y)
            y[place] = 7.0
            z = y - x
            t += z @ z
            x[...] = z
    return t


def scattered(x: Any, d: Any, A: Any, k: Any) -> Any:
    for i in range(A.shape[0]):
        if d[i] < 0:
            x[x > d[i]] = d[i]
            x[k] += 1.0
            np.add.at(x, k, d[i])
            A[:, k[0]] = x[k[1]]


def again(x: Any, d: Any, A: Any, k: Any) -> Any:
    y = np.zeros(4)
    if d[2] > 0:
        y = A[2] * 2
    if d[3] > 0:
        y = y + x
    return y


def nested(x: Any, d: Any, A: Any, k: Any) -> Any:
    for i in range(A.shape[0]):
        if d[i] > 0:
            for j in range(i):
                A[i] -= A[j] * d[j]
            A[i] /= np.sqrt(np.sum(A[i] * A[i]))


def integers(x: Any, d: Any, A: Any, k: Any) -> Any:
    if k[0] != 0:
        k //= k[0]
        k[1:] = k[:-1] % k[0]


def repeated(x: Any, d: Any, A: Any, k: Any) -> Any:
    i = 0
    while i < 4:
        if d[i] > 0:
            x += A[i]
        i += 1


FUNCTIONS = (added, updated, local, scattered, again, nested, integers, repeated)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_of_numpy(function: Callable[..., Any]) -> None:
    kernel = loopwright.kernel(function)
    random = np.random.default_rng(7)
    for _ in range(4):
        A, d = random.normal(size=(6, 4)), random.normal(size=6)
        given = [random.normal(size=4), d, A, random.permutation(4)[:3].astype(np.int32)]
        for schedule, threads in ((None, 1), ("default", 2)):
            one, other = ([each.copy() for each in given] for _ in range(2))
            expected = function(*one)
            found = kernel.typed(*other).compile(schedule, threads=threads)(*other)
            for before, after in zip([*one, expected], [*other, found], strict=True):
                if before is not None:
                    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-9)
