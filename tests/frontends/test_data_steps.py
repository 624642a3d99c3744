"""Loops over ranges whose step depends on data, and along tables of the enclosing scope."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright import f64, i32, i64
from loopwright.errors import SourceError

DX, DY = [1, 0, -1, 0], (0, 1, 0, -1)
WEIGHTS = np.array([0.5, 0.25, 2.0, 1.0])


@loopwright.kernel
def butterflies(n: int, a: i64["n"]):
    h = 1
    while h < len(a):
        for i in range(0, n, 2 * h):
            for j in range(i, i + h):
                x, y = a[j], a[j + h]
                a[j], a[j + h] = x + y, x - y
        h *= 2


@loopwright.kernel
def strided(n: int, steps: i64["k"], a: i64["n"]):
    for k in range(len(steps)):
        last = -1
        for i in range(1, n, steps[k]):
            if a[i] % 5 == 3:
                continue
            a[i] += k
            last = i
        for i in range(n - 1, 0, -steps[k]):
            if a[i] > 40:
                break
            a[i] += 2
        a[0] += last


@loopwright.kernel
def neighbours(n: int, m: int, a: f64["n", "m"], b: f64["n", "m"]):
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for k in range(len(DX)):
                b[i, j] += WEIGHTS[k] * a[i + DY[k], j + DX[k]]


@loopwright.kernel
def scattered(n: int, m: int, a: f64["n", "m"], b: f64["n", "m"]):
    for k in range(3, -1, -1):
        for i in range(n):
            y = i + DY[k]
            if 0 <= y < n:
                for j in range(1, m - 1):
                    b[y, j + DX[k]] = a[i, j] + k


@pytest.mark.parametrize("n", [1, 2, 64])
def test_steps_that_grow(n: int) -> None:
    butterflies.check(n, np.arange(n) % 7)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_steps_of_elements(n: int) -> None:
    strided.check(n, np.array([3, 1, 7, 2]), np.arange(n) % 11)


@pytest.mark.parametrize("kernel", [neighbours, scattered])
def test_tables_are_affine_offsets(kernel: loopwright.PythonKernel) -> None:
    assert "memref.load" not in kernel.mlir
    assert "scf." not in kernel.mlir
    values = np.random.default_rng(2).standard_normal((2, 9, 8))
    kernel.check(9, 8, values[0], values[1])


@pytest.mark.parametrize("loop", ["for k in range(4):", "for k in DX:"])
def test_variables_of_unrolled_loops_are_not_those_of_the_module(loop: str, tmp_path: Path) -> None:
    text = (
        "import loopwright\nfrom loopwright import f64\nDX, k = [1, 0, -1, 0], 5\n"
        "@loopwright.kernel\ndef f(n: int, a: f64['n']):\n    for i in range(1, n - 1):\n"
        f"        {loop}\n            a[i] += DX[k]\n        a[i] += k\n"
    )
    with pytest.raises(SourceError, match="used behind its loop"):
        load_source(text, tmp_path, "unrolled")


@loopwright.kernel
def steps_of_a_list(n: int, steps: i32["m"], a: f64["n"]):
    for s in steps:
        for i in range(0, n, s):
            a[i] += 1.0


def test_steps_may_be_elements() -> None:
    steps_of_a_list.check(20, np.array([2, 3], "i4"), np.zeros(20))


@loopwright.kernel
def multiples(n: int, a: f64["n"], composite: i32["n"]):
    for i in range(1, n):
        for j in range(i, n, i):
            a[j] += i
    for i in range(2, n):
        if composite[i] == 0:
            for j in range(i * i, n, i):
                composite[j] = 1
    for i in range(n, 2, -2):
        for j in range(n - 1, 0, -i):
            a[j] *= 2.0


def test_steps_may_be_variables_of_the_loops_around() -> None:
    for n in (0, 1, 2, 5, 40):
        multiples.check(n, np.zeros(n), np.zeros(n, "i4"))


@loopwright.kernel
def rows_apart(n: int, m: int, a: f64["n", "m"], y: f64["k"]):
    for h in range(1, n):
        for j in range(0, len(y), a.shape[1] * h):
            y[j] += h


def test_steps_of_a_shape_and_a_loop_variable() -> None:
    """The number of columns does not change; the variable does."""
    rows_apart.check(3, 4, np.zeros((3, 4)), np.zeros(30))
