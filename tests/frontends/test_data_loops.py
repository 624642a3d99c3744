"""Loops with bounds that depend on data, up and down, in Python and C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_functions import built, call
from support.random_c import RandomFunction

import loopwright
from loopwright import f64, i64


@loopwright.kernel
def solved(n: int, P: i64["p"], J: i64["k"], V: f64["k"], x: f64["n"]):
    for i in range(n - 1, -1, -1):
        for k in range(P[i + 1] - 1, P[i], -1):
            x[i] -= V[k] * x[J[k]]
        for k in range(P[i], P[i + 1], 2):
            x[i] += V[k]
        for k in range(P[i + 1], P[i] - 3, -3):
            x[i] = 0.5 * x[i] + k


@pytest.mark.parametrize("schedule", [None, "default"])
def test_python(schedule: str | None) -> None:
    random = np.random.default_rng(1)
    n = 9
    starts = np.concatenate([[0], np.cumsum(random.integers(0, 5, n))])
    starts[3], starts[4] = starts[4], starts[3]  # a range without elements
    columns = random.integers(0, n, starts.max())
    values = random.random(starts.max())
    x = random.random(n)
    expected = x.copy()
    solved.python(n, starts, columns, values, expected)
    solved.compile(schedule=schedule)(n, starts, columns, values, x)
    assert np.array_equal(x, expected)


@loopwright.kernel
def far(n: int, P: i64["p"], y: i64["n"]):
    for i in range(n):
        for k in range(P[2 * i], P[2 * i + 1], -(2**61)):
            y[i] = 3 * y[i] + k // 1000


FAR = ((2**62 + 5, -(2**62) - 7), (2**63 - 1, -(2**63)), (-5, -(2**63)), (-(2**63), 2**63 - 1))


@pytest.mark.parametrize("schedule", [None, "default"])
def test_distances_that_are_no_numbers_with_a_sign(schedule: str | None) -> None:
    ends = np.array(FAR).ravel()
    expected, y = np.zeros(len(FAR), np.int64), np.zeros(len(FAR), np.int64)
    for i, (first, end) in enumerate(FAR):
        for k in range(first, end, -(2**61)):
            expected[i] = 3 * expected[i] + k // 1000
    far.compile(schedule=schedule)(len(FAR), ends, y)
    assert np.array_equal(y, expected)


HEADS = (
    "int k = p[i]; k > p[i + 1]; k--",
    "int k = p[i + 1]; k >= p[i]; k -= 2",
    "int k = p[i + 1]; p[i] < k; k = k - 3",
    "int k = p[i + 1] - 1; k >= 0; --k",
    "long k = q[i]; k > q[i + 1]; k--",
    "long k = p[i]; k >= -2; k -= 5",
    "unsigned k = p[i] & 7; k > 0; k--",
    "int k = p[i]; k < p[i + 1]; k += 2",
    "int k = p[i]; k <= 4; k++",
)


@pytest.mark.parametrize("head", HEADS)
def test_c(head: str, tmp_path: Path) -> None:
    body = f"for (int i = 0; i < n; i++) for ({head}) y[i] = y[i] * 3 + (long)k;"
    text = f"void f(int n, int p[9], long q[9], long y[8]) {{\n#pragma scop\n{body}\n"
    p = np.array([0, 3, 3, 7, 2, 5, -4, 1, 9], np.int32)
    # From -2^63 down to 2^63 - 1: a distance that is no 64-bit integer, and no iteration.
    least, largest = -(2**63), 2**63 - 1
    above = [largest, largest - 2, largest - 2, largest - 1, largest - 2, largest - 2, largest]
    q = np.array([least + 2, least, *above], np.int64)
    arguments = [("n", 8), ("p", p), ("q", q), ("y", np.arange(8))]
    function = RandomFunction(f"{text}#pragma endscop\n}}\n", arguments, ["int"])
    path = tmp_path / "f.c"
    path.write_text(function.text)
    wanted = call(built({"f": function.text}, tmp_path), "f", function)["y"]
    for schedule in (None, "default"):
        y = np.arange(8)
        loopwright.load(str(path))["f"].compile(schedule=schedule)(8, p, q, y)
        assert np.array_equal(y, wanted)
