"""Assignments at arrays of subscripts: NumPy's order, and one addition for each element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import f64, i64
from loopwright.dialects.errors import SourceError


@loopwright.kernel
def assigned(x: f64["n"], J: i64["m"], v: f64["m"]):
    x[J] = v
    x[J] = 0.5 * x[J] + x[0]
    x[J] *= 2.0


@loopwright.kernel
def added(x: f64["n"], J: i64["m"], v: f64["m"], counts: i64["n"]):
    x[J] += v
    np.add.at(x, J, v * x[1])
    np.subtract.at(x, J, 1.5)
    np.add.at(counts, J, 1)
    counts[J] = counts[J] + J


@loopwright.kernel
def moved(places: i64["n"]):
    places[places] = places * 1


@loopwright.kernel
def local(x: f64["n"], J: i64["m"]):
    y = np.zeros(len(x))
    y[J] = x[J]
    return y


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 20), (64, 200), (300, 40)])
def test_results_of_numpy(n: int, m: int, schedule: str | None) -> None:
    random = np.random.default_rng(n)
    x, v, J = random.normal(size=n + 1), random.normal(size=m), random.integers(0, n, m)
    counts = random.integers(0, n, n + 1)
    for kernel, given in (
        (assigned, (x, J, v)),
        (added, (x, J, v, counts)),
        (moved, (random.permutation(n),)),
        (local, (x, J)),
    ):
        expected = [each.copy() for each in given]
        found: list[Any] = [each.copy() for each in given]
        results = kernel.python(*expected), kernel.compile(schedule, threads=2)(*found)
        for one, other in zip((*expected, results[0]), (*found, results[1]), strict=True):
            if one is not None:
                np.testing.assert_allclose(other, one, rtol=1e-13, atol=1e-13)


def test_shapes_must_agree() -> None:
    with pytest.raises(SourceError, match="does not fit the shape"):

        @loopwright.kernel
        def _(x: f64["n"], J: i64["m"], v: f64["k"]):
            x[J] = v
