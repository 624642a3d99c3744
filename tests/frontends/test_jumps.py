"""`break`, `continue` and early `return` in Python functions, compared with Python itself."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType

import numpy as np
import pytest

import loopwright
from loopwright import f64, i32
from loopwright.dialects.errors import SourceError
from loopwright.frontends.python.captured import Captured
from loopwright.frontends.python.idioms import local_names
from loopwright.frontends.python.jumps import Jumps
from loopwright.frontends.python.source import PythonSource


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


def only_return(n: int, A: f64["n", "n"], out: i32["n"]):
    return


def inner_jumps(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        if A[i, 0] > 0.3:
            out[i] = 1
            if A[0, i] > 0.6:
                continue
            out[i] += 1
        elif A[i, i] > 0.8:
            if i < 2:
                break
            out[i] -= 4
        for j in range(n):
            if A[i, j] > 0.2:
                A[i, j] *= 2.0
                if A[j, i] > 0.7:
                    break
            else:
                A[i, j] += out[j] * 3.0
                if j == 3:
                    continue
            A[i, j] += 1.0 + A[i, j] * A[i, j] - 3.0 * A[j, j] + A[j, i] * A[i, i] - A[j, 0]
            out[j] = out[j] * 2 + out[i] - 4 * out[0] + out[j] * out[j] - 3 * out[i] * out[j]
            A[0, j] = A[i, j] * 0.5 + A[j, j] * 0.25 - A[j, i] * 0.125 + A[i, 0] * A[0, i]
        if A[0, i] > 0.4:
            out[i] += 3
            if A[i, i] > 0.5:
                continue
        out[i] += 5


def beside(n: int, A: f64["n", "n"], out: i32["n"]):
    for j in range(n):
        out[j] += 1
    for i in range(n):
        for j in range(n):
            if A[i, j] > 0.6:
                break
            out[j] += i
        for j in range(i):
            out[j] *= 2
    for j in range(n):
        if A[0, j] > 0.9:
            break
        out[j] += 1
    for j in range(n):
        A[j, 0] += out[j]


def under_a_condition(n: int, A: f64["n", "n"], out: i32["n"]):
    if A[0, 0] > 0.1:
        for j in range(n):
            if A[0, j] > 0.7:
                break
            out[j] = 1
    for j in range(n):
        out[j] += 1
        if A[j, 0] > 0.7:
            break


goes_on = 3


def with_the_name_of_a_constant(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        if A[0, i] > 0.7:
            break
        out[i] = goes_on


def twelve(n: int, A: f64["n", "n"], out: i32["n"]):
    for i in range(n):
        if A[i, 0] > 0.1:
            out[i] += 0
            if A[0, i] > 0.90:
                continue
        if A[i, 0] > 0.2:
            out[i] += 1
            if A[0, i] > 0.81:
                continue
        if A[i, 0] > 0.3:
            out[i] += 2
            if A[0, i] > 0.72:
                break
        if A[i, 0] > 0.4:
            out[i] += 3
            if A[0, i] > 0.63:
                continue
        if A[i, 0] > 0.5:
            out[i] += 4
            if A[0, i] > 0.94:
                continue
        if A[i, 0] > 0.1:
            out[i] += 5
            if A[0, i] > 0.85:
                break
        if A[i, 0] > 0.2:
            out[i] += 6
            if A[0, i] > 0.76:
                continue
        if A[i, 0] > 0.3:
            out[i] += 7
            if A[0, i] > 0.67:
                continue
        if A[i, 0] > 0.4:
            out[i] += 8
            if A[0, i] > 0.98:
                break
        if A[i, 0] > 0.5:
            out[i] += 9
            if A[0, i] > 0.89:
                continue
        if A[i, 0] > 0.1:
            out[i] += 10
            if A[0, i] > 0.710:
                continue
        if A[i, 0] > 0.2:
            out[i] += 11
            if A[0, i] > 0.611:
                break
        out[i] *= 2


FUNCTIONS = [
    *(triangle, only_return, inner_jumps, beside, under_a_condition),
    *(with_the_name_of_a_constant, twelve),
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


def test_statements_behind_jumps_are_not_repeated() -> None:
    assert isinstance(twelve, FunctionType)
    source = PythonSource.of(twelve)
    definition = source.parse()
    before = sum(1 for _ in ast.walk(definition))
    Jumps(Captured.of(twelve), local_names(definition), source, definition).visit(definition)
    assert sum(1 for _ in ast.walk(definition)) < 3 * before


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


def own_variable(n: int, A: f64["n"], out: i32[1]):
    for i in range(n):
        i = i + 1
        if A[i - 1] > 0.9:
            break


def at_the_end(n: int, A: f64["n"], out: i32[1]):
    for i in range(n):
        A[i] = 1.0
        break


def in_both_branches(n: int, A: f64["n"], out: i32[1]):
    i = 0
    while A[i] > 0.5:
        if i > 2:
            A[i] = 1.0
            break
        break


def inner_of_the_same_name(n: int, A: f64["n"], out: i32[1]):
    for i in range(n):
        for i in range(n):
            if A[i] > 0.9:
                break
        A[i] = 1.0


def step_of_a_size(n: int, A: f64["n"], out: i32[1]):
    for i in range(0, n, n):
        if A[i] > 0.9:
            break
        out[0] = i


REFUSED = {
    step_of_a_size: "the step of a loop with 'break' is no constant",
    used_behind: "'i' of a loop with 'break' is read behind it",
    of_constants: "'break' must be behind an 'if', in a loop over a range",
    own_variable: "'i' of a loop with 'break' is set in it",
    at_the_end: "the loop ends with 'break' the first time",
    in_both_branches: "the loop ends with 'break' the first time",
    inner_of_the_same_name: "'i' is an argument or the variable of an outer loop",
}


@pytest.mark.parametrize("function", REFUSED)
def test_what_would_mean_something_else_is_refused(function: Callable[..., object]) -> None:
    with pytest.raises(SourceError, match=REFUSED[function]):
        _ = loopwright.kernel(function).mlir
