"""Rows and columns at subscripts that depend on data, and what statements on arrays look up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.errors import SourceError

random = np.random.default_rng(5)


def rows(E: Any, k: Any) -> Any:
    y = np.zeros((len(k), E.shape[1]))
    for i in range(len(k)):
        y[i] = E[k[i]] * 2
        y[i, 1:] += E[k[i]][1:]
    return y, E[k], E[k, :].mean(axis=0), E[k[1]] @ E[k[0]]


def columns(E: Any, k: Any) -> Any:
    E[:, k[0]] *= 0.5
    return E[:, k], E[:, k[1]] + 1, E[0, k], E[k, 0], E[k[1], k]


def updates(E: Any, k: Any) -> int:
    for i in range(len(k)):
        E[k[i]] += E[i]
        E[k[0]] = E[k[i]] * 0.5
    E[k] = E[: len(k)] * 2
    E[k] += 1
    E[k[::-1]] = E[k]
    return 0


def own_elements(E: Any, k: Any) -> float:
    x = E[0].copy()
    x[:] = x[k[0]] + 1
    x += E[1]
    x[: len(k)] = x[k] + x[k[::-1]]
    x[1:] = x[:-1] + x[k[2]]
    E += E[k[0]]
    E[0] = E[k[1]]
    E[:, 0] += E[1, k[2]]
    return x @ x


def scattered(E: Any, k: Any) -> int:
    """An array of the first statement is freed among what is not affine."""
    x = E[0]
    x[k] = x[k[::-1]]
    x[1:] = x[:-1] + x[k[0]]
    return 0


def kept_rows(E: Any, k: Any) -> Any:
    row = E[k[0]].copy()
    E[k[0]] = 0
    return row


@pytest.mark.parametrize("function", [rows, columns, updates, own_elements, scattered, kept_rows])
@pytest.mark.parametrize("how", ["none", "default"])
def test_lookups(function: Callable[[Any, Any], Any], how: str) -> None:
    E, k = random.normal(size=(7, 9)), random.integers(0, 7, 5).astype(np.int32)
    k[3] = k[1]
    own, given = E.copy(), E.copy()
    expected = function(own, k)
    kernel = loopwright.kernel(function).typed(given, k)
    schedule = None if how == "none" else "default"
    result = kernel.compile(schedule, threads=2)(given, k)
    np.testing.assert_allclose(given, own, rtol=1e-13)
    wanted, found = (x if isinstance(x, tuple) else (x,) for x in (expected, result))
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)


def test_a_row_gets_no_name() -> None:
    def view(E: Any, k: Any) -> Any:
        row = E[k[0]]
        return row * 2

    with pytest.raises(SourceError, match=r"write E\[k\[0\]\].copy\(\)"):
        loopwright.kernel(view)(np.zeros((3, 3)), np.zeros(3, np.int64))


def test_a_row_outside_is_an_error() -> None:
    def look(E: Any, k: Any, y: Any) -> None:
        y[:] = E[k[0]]

    with pytest.raises(loopwright.errors.OutOfBounds):
        loopwright.kernel(look)(np.ones((3, 3)), np.full(3, 5), np.zeros(3))
