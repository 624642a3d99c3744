"""Functions of NumPy that are formulas of others, and those that are loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.dialects.errors import SourceError


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


def typed_sums(A: Any, x: Any, k: Any) -> Any:
    return (
        np.sum(A, dtype=np.float64),
        A.sum(axis=0, dtype=np.float64),
        np.sum(k, dtype=np.int32),
        np.mean(A, axis=1, dtype=np.float64),
        (A > 0).sum(dtype=np.float64),
        np.prod(k, dtype=np.float64),
    )


def averages(A: Any, x: Any, k: Any) -> Any:
    return (
        np.average(x, weights=x * x),
        np.average(A, axis=0, weights=np.abs(x[:6]) + 1),
        np.average(A, weights=A * A, axis=1),
        np.average(A, axis=-1, weights=np.arange(4) + 1.0),
        np.average(k, weights=k * k + 1),
    )


def rounded(A: Any, x: Any, k: Any) -> Any:
    return (
        np.round(A),
        np.round(x, 2),
        A.round(1),
        np.around(k),
        x.round(-1),
        np.round(x, decimals=3),
    )


def bounded(A: Any, x: Any, k: Any) -> Any:
    return (
        np.clip(A, 0, None),
        np.clip(x, None, 0.5),
        A.clip(-1),
        np.clip(k, a_min=None, a_max=3),
        np.signbit(x),
        np.nan_to_num(A),
        np.nan_to_num(x, nan=1.5),
        np.nan_to_num(k),
        np.nan_to_num(x, nan=-1.0, posinf=9.0, neginf=-9.0),
    )


@pytest.mark.parametrize("function", [typed_sums, averages, rounded, bounded])
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_options_of_functions(function: Any, kind: str) -> None:
    random = np.random.default_rng(5)
    A, x = random.normal(size=(6, 4)).astype(kind), (random.normal(size=9) * 3).astype(kind)
    k = random.integers(-9, 9, 8).astype("i4")
    x[1] = -0.0
    if function in (rounded, bounded):
        A[1, 2] = x[5] = np.nan
        A[0, 0], x[3], x[7] = np.inf, -np.inf, 2.5
    with np.errstate(invalid="ignore"):
        expected = function(A, x, k)
    for one, other in zip(expected, loopwright.kernel(function)(A, x, k), strict=True):
        assert one.dtype == other.dtype
        exact = function in (rounded, bounded)
        np.testing.assert_allclose(other, one, rtol=0 if exact else 1e-5)


def largest(h: Any, other: int) -> Any:
    best = 0
    for i in range(len(h)):
        best = max(best, h[i])
    return best


def largest_of_others(h: Any, other: int) -> Any:
    best = most = 0
    for i in range(len(h)):
        most = max(best, h[i])
        best = other
    return most


@pytest.mark.parametrize("kind", ["i2", "i4", "f4"])
def test_extrema_of_variables_that_begin_with_an_int(kind: str) -> None:
    h = np.random.default_rng(2).integers(1, 100, 17).astype(kind)
    assert loopwright.kernel(largest)(h, 7) == np.max(h)
    with pytest.raises(SourceError, match="this may be int or"):
        loopwright.kernel(largest_of_others)(h, 1 << 40)
