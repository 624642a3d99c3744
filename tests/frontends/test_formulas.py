"""Functions of NumPy that are formulas of others, and those that are loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright


@loopwright.kernel
def statistics(A: Any):
    spread = np.std(A, axis=0)
    return (
        np.var(A),
        A.std(axis=1),
        (A - np.mean(A, axis=0)) / (spread + 1.0),
        np.ptp(A, axis=1),
        np.count_nonzero(A > 3),
        np.average(A),
        np.flipud(A) * 2,
        np.fliplr(A) * 2,
        np.diff(A),
        A.ndim,
        A.size,
    )


@loopwright.kernel
def scans(x: Any):
    largest = np.argmax(x)
    return (
        np.cumsum(x),
        x.cumsum() * 2,
        np.cumprod(x),
        np.maximum.accumulate(x),
        np.minimum.accumulate(x * 2),
        largest,
        (x * x).argmin(),
        np.concatenate((x, x[1:], x)),
    )


@loopwright.kernel
def rotations(x: Any, A: Any, shift: int):
    signs = np.empty_like(x)
    for i in range(len(x)):
        signs[i] = np.sign(x[i]) * 2
    return (
        np.roll(x, shift),
        np.roll(A, 1, axis=0) - 2 * A + np.roll(A, -1, axis=0),
        np.roll(A, shift, axis=1),
        np.cumsum(A, axis=0),
        A.cumsum(axis=1),
        np.sign(A),
        signs,
    )


@loopwright.kernel
def ranges(n: int, m: int):
    points = np.linspace(-1.0, 2.0, n)
    return (
        np.arange(n),
        np.arange(2, m),
        np.arange(2, m, 3),
        np.arange(n, dtype=np.float32) * points,
        points[:, np.newaxis] - np.arange(m),
    )


@loopwright.kernel
def truths(x: Any, k: Any):
    count = 0
    for i in range(len(x)):
        if k[i] & 1:
            count += 1
        if x[i] and not k[i]:
            count += 10
        if i % 3:
            count += 100
        if ~k[i]:
            count += 1000
        count += x[i] > k[i]
        if np.logical_or(x[i] > 2, np.logical_not(k[i])):
            count += 10000
    if np.any(x > 2):
        x[0] = 5
    if np.all(x < 7):
        x[1] = 6
    return count, np.sum(x > 1), np.mean(x > 1), (x > 1) * 2.5


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32, np.uint8])
def test_statistics(kind: Any) -> None:
    for shape in ((1, 1), (4, 5)):
        statistics.check(np.random.default_rng(0).integers(0, 9, shape).astype(kind))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int16, np.uint8])
def test_scans(kind: Any) -> None:
    for extent in (1, 2, 9):
        scans.check(np.random.default_rng(extent).integers(1, 5, extent).astype(kind))


def test_first_extremum_and_nan_as_in_numpy() -> None:
    for values in ([3, 1, 3, 1], [1, np.nan, 7, np.nan], [np.nan, 1, 0], [-0.0, 0.0]):
        scans.check(np.array(values, float))


@pytest.mark.parametrize("sizes", [(1, 2), (2, 3), (5, 9)])
def test_ranges(sizes: tuple[int, int]) -> None:
    ranges.check(*sizes)


def test_truth_values() -> None:
    x = np.array([0, 1.0, np.nan, 0, -0.0, 3])
    truths.check(x, np.array([0, 1, 2, 3, -1, 5]))
    truths.check(x[:2], np.array([0, 1]))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32])
def test_rotations(kind: type) -> None:
    random = np.random.default_rng(1)
    for n, m, shift in ((6, 5, 2), (1, 3, -4), (7, 1, 30), (0, 4, 1)):
        x, matrix = (random.normal(0, 9, each).astype(kind) for each in (n, (n, m)))
        expected = rotations.python(x, matrix, shift)
        for one, other in zip(rotations(x, matrix, shift), expected, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


def test_the_signs_of_numbers_that_are_none() -> None:
    values = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, -1e-300, 3.0])
    (*_, signs), (*_, expected) = (
        each(values, np.ones((2, 2)), 1) for each in (rotations, rotations.python)
    )
    assert signs.tobytes() == expected.tobytes()


@pytest.mark.parametrize("axis", [None, 2])
def test_what_is_not_rolled(axis: int | None) -> None:
    def f(A: Any):
        return np.roll(A, 1, axis=axis)

    def flat(A: Any):
        return np.roll(A, 1)

    for each in (f, flat):
        with pytest.raises(loopwright.errors.SourceError):
            loopwright.kernel(each)(np.ones((2, 3)))
