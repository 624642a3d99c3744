"""Assignments at arrays of subscripts: NumPy's order, and one addition for each element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.dialects.errors import SourceError


@loopwright.kernel
def assigned(x: Any, J: Any, v: Any):
    x[J] = v
    x[J] = 0.5 * x[J] + x[0]
    x[J] *= 2.0


@loopwright.kernel
def added(x: Any, J: Any, v: Any, counts: Any):
    x[J] += v
    np.add.at(x, J, v * x[1])
    np.subtract.at(x, J, 1.5)
    np.add.at(counts, J, 1)
    counts[J] = counts[J] + J


@loopwright.kernel
def moved(places: Any):
    places[places] = places * 1


@loopwright.kernel
def local(x: Any, J: Any):
    y = np.zeros(len(x))
    y[J] = x[J]
    return y


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 20), (64, 200), (300, 40)])
def test_results_of_numpy(n: int, m: int, schedule: str | None) -> None:
    random = np.random.default_rng(n)
    x, v, J = random.normal(size=n + 1), random.normal(size=m), random.integers(0, n, m)
    counts = random.integers(0, n, n + 1)
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (assigned, (x, J, v)),
        (added, (x, J, v, counts)),
        (moved, (random.permutation(n),)),
        (local, (x, J)),
    ]
    for kernel, given in cases:
        expected = [each.copy() for each in given]
        found: list[Any] = [each.copy() for each in given]
        compiled = kernel.typed(*found).compile(schedule, threads=2)
        results: list[Any] = [kernel.python(*expected), compiled(*found)]
        for one, other in zip((*expected, results[0]), (*found, results[1]), strict=True):
            if one is not None:
                np.testing.assert_allclose(other, one, rtol=1e-13, atol=1e-13)


def test_shapes_must_agree() -> None:
    x, J = np.zeros(5), np.zeros(4, np.int64)
    with pytest.raises(SourceError, match="does not fit the shape"):
        assigned(x, J, np.zeros(3))
