"""Functions of NumPy that are expressions or loops of others, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright

random = np.random.default_rng(8)


def angles(x: Any, k: Any) -> Any:
    total = 0.0
    for v in x[0]:
        total += math.radians(v) - math.degrees(v)
    return np.degrees(x), np.radians(k), np.deg2rad(x), np.rad2deg(x), np.reciprocal(x), total


def bits(x: Any, k: Any) -> Any:
    a, b = x[0] > 0, x[1] > 0
    either, both = np.bitwise_or(k, 7), np.bitwise_and(k, k[::-1])
    return either, both, np.left_shift(k, 2), ~k, np.invert(a), np.logical_xor(a, b), a.sum()


def variances(x: Any, k: Any) -> Any:
    return np.std(x, ddof=1), x.var(axis=0, ddof=1), x.std(1, ddof=0), np.var(k, ddof=1)


def without_nan(x: Any, k: Any) -> Any:
    y = np.where(x > 1, np.nan, x)
    return np.nanmean(y), np.nanmean(y, axis=0), np.nanmean(k), np.trapezoid(x), x[:, :4].trace()


def of_all(x: Any, k: Any) -> Any:
    return np.cumsum(x), np.cumprod(x[1:, ::2]), np.kron(x[:2, :3], x), np.kron(k, k[:3])


def zipped(x: Any, k: Any) -> float:
    total = 0.0
    for i, (a, (b, c)) in enumerate(zip(x[0], zip(x[1], x[2]))):  # noqa: B905
        total += i * a * b - c
    for (a, b), (c, d) in zip(zip(x[0], x[1]), zip(x[1, 1:], x[2])):  # noqa: B905
        total += a * d - b * c
    return total


@pytest.mark.parametrize("function", [angles, bits, variances, without_nan, of_all, zipped])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_formulas(function: Callable[[Any, Any], Any], kind: type[np.floating[Any]]) -> None:
    x = random.normal(size=(4, 7)).astype(kind)
    k = random.integers(0, 2**32, 9, dtype=np.uint32)
    kernel: Any = loopwright.kernel(function)
    expected: Any = function(x, k)
    found: Any = kernel(x, k)
    tolerance = 1e-4 if kind is np.float32 else 1e-11
    pairs: Any = [(expected, found)] if function is zipped else zip(expected, found, strict=True)
    for one, other in pairs:
        assert np.asarray(one).dtype == np.asarray(other).dtype or function is zipped
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance)


def of_nothing(x: Any, k: Any) -> Any:
    return np.var(x, ddof=1), np.std(x[:, :1], axis=1, ddof=1), np.nanmean(k)


def test_formulas_of_few_and_large() -> None:
    """Of less than two elements there is no variance; means of large integers do not wrap."""
    kernel: Any = loopwright.kernel(of_nothing)
    k = np.full(4, 2**62)
    with np.errstate(invalid="ignore"), pytest.warns(RuntimeWarning):
        for shape in ((0, 6), (1, 1), (3, 2)):
            x = random.normal(size=shape)
            for one, other in zip(kernel(x, k), of_nothing(x, k), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)


def in_degrees(x: Any) -> Any:
    return np.degrees(x), np.radians(x)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_angles_have_the_bits_of_numpy(kind: type[np.floating[Any]]) -> None:
    kernel: Any = loopwright.kernel(in_degrees)
    x = random.normal(size=3000).astype(kind)
    for one, other in zip(kernel(x), in_degrees(x), strict=True):
        np.testing.assert_array_equal(one, other)
