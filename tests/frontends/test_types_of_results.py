"""Functions of NumPy on all element types: values and types of the results; empty arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.errors import SourceError
from loopwright.passes.polyhedral.bounds import BoundsError

random = np.random.default_rng(5)


def contracted(x: Any, y: Any, A: Any, S: Any) -> Any:
    columns, total = np.einsum("ij->j", A), np.einsum("ij->", A)
    trace, rows = np.einsum("ii", S), np.einsum("ij->i", A * A)
    by_vector, square = np.einsum("ij,j->i", A, y), np.einsum("i,i->", x, x)
    return columns, total, trace, rows, by_vector, square, A @ y, np.trace(S), np.outer(x, y)


def reduced(x: Any, y: Any, A: Any, S: Any) -> Any:
    greatest, least, places = np.max(A, axis=0), np.min(x), np.argmax(A, axis=1)
    sums, product, running = np.sum(A, axis=1), x.prod(), np.cumsum(x)
    return greatest, least, places, sums, product, running, np.count_nonzero(A)


def averaged(x: Any, y: Any, A: Any, S: Any) -> Any:
    lengths, some = np.linalg.norm(A, axis=1), np.any(A, axis=0)
    return np.mean(A, axis=1), np.linalg.norm(x), lengths, np.var(A, axis=0), some


def quotients(x: Any, y: Any, A: Any, S: Any) -> Any:
    return A / y, x / 2, 3 / y, x / x.sum(), (A / y).mean()


TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8", "?")


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("function", [contracted, reduced, averaged, quotients])
def test_types_and_values(function: Callable[..., Any], kind: str) -> None:
    if kind == "?" and function is quotients:
        return  # quotients of truth values are refused
    shapes = ((5,), (7,), (5, 7), (5, 5))
    high = 2 if kind == "?" else 120
    arguments = [random.integers(int(high > 2), high, shape).astype(kind) for shape in shapes]
    kernel: Any = loopwright.kernel(function)
    for one, other in zip(function(*arguments), kernel(*arguments), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(other, one, rtol=1e-5 if kind == "f4" else 1e-12)


def extended(A: Any, x: Any, y: Any) -> Any:
    return np.pad(A, 1, mode="edge")


def extended_to_the_sides(A: Any, x: Any, y: Any) -> Any:
    return np.pad(A, ((0, 0), (1, 2)), mode="edge")


def convolved(A: Any, x: Any, y: Any) -> Any:
    return np.convolve(x, y)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (extended, ((0, 0), 1, 1)),
        (extended, ((0, 2), 1, 1)),
        (extended, ((2, 0), 1, 1)),
        (extended_to_the_sides, ((0, 2), 1, 1)),
        (convolved, ((1, 1), 0, 2)),
        (convolved, ((1, 1), 2, 0)),
        (convolved, ((1, 1), 1, 2)),
    ],
)
def test_of_nothing(function: Callable[..., Any], shapes: Any) -> None:
    """What NumPy refuses of empty arrays is refused: there is nothing to extend."""
    arguments = [np.ones(shape) for shape in shapes]
    kernel: Any = loopwright.kernel(function)
    try:
        expected = function(*arguments)
    except ValueError:
        with pytest.raises((SourceError, BoundsError)):
            kernel(*arguments)
    else:
        np.testing.assert_array_equal(kernel(*arguments), expected)
