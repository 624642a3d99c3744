"""Rows as several values: `x, y = p[i]`, `for x, y in p`, compared with Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.dialects.errors import SourceError


def pixels(image: Any, p: Any, at: Any, out: Any) -> Any:
    for i in range(image.shape[0]):
        r, g, b = image[i]
        out[i] = r + 2 * g - b


def pairs(image: Any, p: Any, at: Any, out: Any) -> Any:
    total = 0.0
    for i in range(p.shape[0]):
        for j in range(i):
            dx, dy = p[i] - p[j] * 2
            total += dx * dx - dy
    return total


def loops(image: Any, p: Any, at: Any, out: Any) -> Any:
    for k, ((x, y), (r, _, b)) in enumerate(zip(p, image)):  # noqa: B905
        out[k] = x * r + y * b
    for a, b, c in reversed(image):
        out[0] += a - b * c


def looked_up(image: Any, p: Any, at: Any, out: Any) -> Any:
    for i in range(at.shape[0]):
        x, y = p[at[i]] * out[i] - p[i]
        out[i] = x - y


def swapped(image: Any, p: Any, at: Any, out: Any) -> Any:
    for i in range(p.shape[0]):
        p[i, 1], p[i, 0] = p[i]
    one, other, third = -image[:, 1][0:3]
    return one + other * third


def updated(image: Any, p: Any, at: Any, out: Any) -> Any:
    for row in image:
        x, y, z = row
        row[0] = y
        row[1] = x - z


def stretched(image: Any, p: Any, at: Any, out: Any) -> Any:
    for i in range(p.shape[0]):
        [x, y] = p[i] - out[0:1] * 2
        u, v = image[i, 2:3] * p[i] + p[at[i]]
        out[i] += x - y * u + v
    return p[2, 0]


FUNCTIONS = [pixels, pairs, loops, looked_up, swapped, updated, stretched]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("rows", [3, 8, 37])
@pytest.mark.parametrize("schedule", ["", "default"])
def test_rows_are_values(function: Any, rows: int, schedule: str) -> None:
    random = np.random.default_rng(rows)
    arguments = [
        random.integers(-4, 5, (rows, 3)).astype(float),
        random.integers(-4, 5, (rows, 2)).astype(float),
        random.integers(0, rows, rows),
        random.integers(-4, 5, rows).astype(float),
    ]
    expected = [each.copy() for each in arguments]
    result = function(*expected)
    kernel: Any = loopwright.kernel(function)
    found = kernel.typed(*arguments).compile(schedule=schedule, verify=True)(*arguments)
    assert found == result
    for one, other in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("columns", [1, 3])
def test_another_number_of_elements(columns: int) -> None:
    image = np.ones((4, columns))
    kernel: Any = loopwright.kernel(two)
    with pytest.raises(SourceError, match="another number of elements"):
        kernel(image)
    assert kernel(np.ones((4, 2))) == 4


def two(p: Any) -> Any:
    total = 0.0
    for x, y in p:
        total += x * y
    return total
