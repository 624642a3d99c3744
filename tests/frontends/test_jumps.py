"""`break`, `continue` and early `return` in Python functions, compared with Python itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import loopwright
from loopwright import f64, i32
from loopwright.dialects.errors import SourceError


def first_large(n: int, A: f64["n", "n"], out: i32["n"]):
    out[0] = -1
    for i in range(n):
        if A[0, i] > 0.7:
            out[0] = i
            break


def nested(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        for j in range(n - 1, -1, -2):
            if A[i, j] < 0.1:
                continue
            out[i] = j
            if A[i, j] > 0.5:
                if j > 2:
                    break
                out[i] = -j
            A[i, j] += 1


def outer_and_inner(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        if A[i, 0] > 0.8:
            break
        for j in range(1, n, 2):
            if A[i, j] > 0.8:
                break
            out[i] += 1
        else_of_nothing = A[i, i]
        if else_of_nothing < 0.2:
            continue
        out[i] *= 2


def end_that_changes(n: int, A: f64["n", "n"], out: i32["n"]):
    m = 0
    for i in range(n):
        m = i + 1
        for j in range(m):
            m = 2
            if A[i, j] > 0.9:
                break
            out[i] += j + m


def while_loop(n: int, A: f64["n", "n"], out: i32["n"]):
    i = 0
    while i < n:
        if A[i, i] > 0.6:
            break
        i += 1
        if A[i - 1, 0] > 0.5:
            continue
        out[i - 1] = 5
    out[0] += i


def affine(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        if i < 2:
            continue
        for j in range(n):
            if j == i:
                continue
            A[i, j] = A[i - 1, j] + A[i - 2, j]
        if i > 4:
            break


def early(n: int, A: f64["n", "n"], out: i32["n"]):
    if n < 4:
        out[0] = 1
        return
    if n == 6:
        return
    for i in range(1, n):
        A[i, 0] += A[i - 1, 0]


def constants(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        for d in (1, 2, 3):
            if i < d:
                continue
            A[i, 0] += d * A[i - d, 1]


def of_elements(n: int, A: f64["n", "n"], out: i32["n"]):
    for i, x in enumerate(out):
        if x > 0:
            continue
        out[i] = i


def twice(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        if A[i, 0] > 0.7:
            out[0] += 1
            break
    for i in range(n):
        if A[i, 1] < 0.2:
            break
        A[i, 2 % n] = 1.0


def triangle(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        if i == 5:
            break
        for j in range(n):
            if j > i:
                break
            A[i, j] = out[i] + j


FUNCTIONS = [
    triangle,
    *(first_large, nested, outer_and_inner, end_that_changes, while_loop),
    *(affine, early, constants, of_elements, twice),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n", [1, 3, 6, 11])
def test_jumps(function: Callable[..., object], n: int) -> None:
    kernel = loopwright.kernel(function)
    for seed in range(6):
        source = np.random.default_rng(seed)
        A, out = source.random((n, max(n, 1))), source.integers(-1, 2, n).astype(np.int32)
        if n > 1 or function not in (constants, twice):
            kernel.check(n, A, out)


def used_behind(n: int, A: f64["n"], out: i32[1]):
    for i in range(n):
        if A[i] > 0.9:
            break
    out[0] = i


def of_constants(n: int, A: f64["n"], out: i32[1]):
    for i in range(n):
        for d in (1, 2, 3):
            if A[i] > d:
                break
            A[i] += d


def with_else(n: int, A: f64["n"], out: i32[1]):
    for i in range(n):
        if A[i] > 0.9:
            break
    else:
        out[0] = 7


def own_variable(n: int, A: f64["n"], out: i32[1]):
    for i in range(n):
        i = i + 1
        if A[i - 1] > 0.9:
            break


def with_value(n: int, A: f64["n"]):
    for i in range(n):
        if A[i] > 0.9:
            return i
    return -1


@pytest.mark.parametrize(
    "function", [used_behind, of_constants, with_else, own_variable, with_value]
)
def test_what_would_mean_something_else_is_refused(function: Callable[..., object]) -> None:
    with pytest.raises(SourceError):
        _ = loopwright.kernel(function).mlir
