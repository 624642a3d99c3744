"""Reductions in elements that depend on data run in parallel, in a private copy for each thread."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import loopwright
from loopwright import f32, f64, i32, i64
from loopwright.errors import OutOfBounds, TransformationError

N = 100_003


@loopwright.kernel
def counts(n: int, m: int, J: i32["n"], H: i64["m"]):
    for i in range(n):
        H[J[i]] += 1


@loopwright.kernel
def table(n: int, m: int, J: i32["n"], K: i32["n"], w: i32["n"], H: i32["m", 5]):
    for i in range(n):
        H[J[i], K[i]] -= w[i]


@loopwright.kernel
def maxima(n: int, m: int, J: i32["n"], w: i64["n"], H: i64["m"]):
    for i in range(n):
        if w[i] > 2:
            H[J[i]] = max(H[J[i]], w[i])


@loopwright.kernel
def sums(n: int, m: int, J: i32["n"], w: f32["n"], H: f32["m"]):
    for i in range(n):
        H[J[i]] += w[i] * 2.0


@loopwright.kernel
def rows(n: int, m: int, P: i32["n1"], J: i32["nnz"], a: f64["nnz"], x: f64["n"], y: f64["m"]):
    for i in range(n):
        for k in range(P[i], P[i + 1]):
            y[J[k]] += a[k] * x[i]


@loopwright.kernel
def two(n: int, m: int, J: i32["n"], K: i32["n"], H: i64["m"], G: i32["m"], v: f64["n"]):
    for i in range(n):
        H[J[i]] += 1
        v[i] = v[i] * 2.0
        G[K[i] % 3] ^= J[i]


@loopwright.kernel
def same(n: int, m: int, J: i32["n"], K: i32["n"], H: i64["m"]):
    for i in range(n):
        H[J[i]] += 1
        H[K[i]] += J[i]


@loopwright.kernel
def mixed(n: int, m: int, J: i32["n"], H: i64["m"]):
    for i in range(n):
        H[J[i]] += 1
        H[J[i]] *= 3


@loopwright.kernel
def shown(n: int, m: int, J: i32["n"], H: i64["m"], v: i64["n"]):
    for i in range(n):
        H[J[i]] += 1
        v[i] = H[J[i]]


@loopwright.kernel
def batches(n: int, m: int, J: i32["n"], H: i64["n", "m"]):
    for b in range(n):
        for i in range(n):
            H[b // 2, J[i]] += 1


generator = np.random.default_rng(5)


def places(n: int, m: int) -> NDArray[np.int32]:
    return generator.integers(0, m, n, dtype="i4")


def numbers(n: int, m: int = 4) -> NDArray[np.float64]:
    """Integers, so that every order of sums has the same result."""
    return generator.integers(0, m, n).astype("f8")


# Kernels with arguments, fast math, and how many of the reductions get copies.
CASES: dict[str, tuple[Any, Callable[[], list[Any]], bool, int]] = {
    "counts": (counts, lambda: [N, 7, places(N, 7), np.zeros(7, "i8")], False, 1),
    "one bin": (counts, lambda: [N, 1, places(N, 1), np.zeros(1, "i8")], False, 1),
    "table": (
        table,
        lambda: [N, 9, places(N, 9), places(N, 5), places(N, 99), np.ones((9, 5), "i4")],
        False,
        1,
    ),
    "maxima": (
        maxima,
        lambda: [N, 30, places(N, 30), places(N, 99).astype("i8"), np.zeros(30, "i8")],
        False,
        1,
    ),
    "sums": (
        sums,
        lambda: [N, 257, places(N, 257), numbers(N).astype("f4"), np.ones(257, "f4")],
        True,
        1,
    ),
    "rows": (
        rows,
        lambda: [
            *(N, 500, np.sort(places(N + 1, 3 * N)), places(3 * N, 500)),
            *(numbers(3 * N), numbers(N), np.zeros(500)),
        ],
        True,
        1,
    ),
    "two": (
        two,
        lambda: [
            *(N, 50, places(N, 50), places(N, 99)),
            *(np.zeros(50, "i8"), np.zeros(50, "i4"), numbers(N)),
        ],
        False,
        1,
    ),
    "same": (
        same,
        lambda: [N, 50, places(N, 50), places(N, 50), np.zeros(50, "i8")],
        False,
        2,
    ),
    "ordered sums": (
        sums,
        lambda: [N, 257, places(N, 257), numbers(N).astype("f4"), np.ones(257, "f4")],
        False,
        0,
    ),
    "mixed": (mixed, lambda: [N, 50, places(N, 50), np.zeros(50, "i8")], False, 0),
    "shown": (
        shown,
        lambda: [N, 50, places(N, 50), np.zeros(50, "i8"), np.zeros(N, "i8")],
        False,
        0,
    ),
    "large": (counts, lambda: [N, N, places(N, N), np.zeros(N, "i8")], False, 0),
    "short": (counts, lambda: [999, 9, places(999, 9), np.zeros(9, "i8")], False, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_copies_are_chosen_where_they_pay(name: str) -> None:
    kernel, make, fast_math, copies = CASES[name]
    arguments = make()
    expected = copy.deepcopy(arguments)
    kernel.python(*expected)
    compiled = kernel.compile("rules", threads=2, fast_math=fast_math, verify=True)
    compiled(*arguments)
    for found, wanted in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    chosen = str(compiled.schedule)
    assert chosen.count("rfactor") == copies
    assert chosen.count("parallel") >= copies


@pytest.mark.parametrize("at", [0, N - 1])
def test_subscripts_are_checked(at: int) -> None:
    arguments = [N, 7, places(N, 7), np.zeros(7, "i8")]
    arguments[2][at] = 7
    with pytest.raises(OutOfBounds, match="H: subscript 0 is 7, the extent 7"):
        counts.compile("rules", threads=2)(*arguments)


def test_reductions_along_inner_loops() -> None:
    steps = "strip-mine{loops=i size=3},rfactor{loops=it},parallel{loops=S0.it}"
    for n, m in ((1, 1), (2, 3), (10, 4), (11, 1)):
        arguments = [n, m, *(places(n, m) for _ in range(2)), places(n, 9)]
        arguments[3] %= 5
        arguments.append(np.ones((m, 5), "i4"))
        expected = copy.deepcopy(arguments)
        table.python(*expected)
        table.compile(steps, threads=2, verify=True)(*arguments)
        np.testing.assert_array_equal(arguments[-1], expected[-1])


@pytest.mark.parametrize(
    ("kernel", "steps", "fast_math", "message"),
    [
        (counts, "strip-mine{loops=i size=8},rfactor{loops=i}", False, "name the loop over tiles"),
        (sums, "rfactor{loops=i}", False, "--fast-math"),
        (batches, "rfactor{loops=i}", False, "in some dimensions only"),
        (shown, "rfactor{loops=i}", False, "uses H inside i"),
        (mixed, "distribute{loops=i}", False, "on H is violated"),
    ],
)
def test_what_is_refused(kernel: Any, steps: str, fast_math: bool, message: str) -> None:
    with pytest.raises(TransformationError, match=message):
        kernel.schedule(steps, fast_math=fast_math)
