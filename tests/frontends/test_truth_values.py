"""Arrays and variables of truth values in Python functions, compared with Python itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import b1, f32, f64, i32
from loopwright.dialects.errors import SourceError


def masks(n: int, A: f64["n"], m: b1["n"], out: i32["n"]):
    big = A > 0.5
    both = big & m
    either = big | ~m
    odd = (A < 0.2) ^ m
    for i in range(n):
        if both[i] or (i % 3 == 0 and not m[i]):
            out[i] = 5
        elif either[i]:
            out[i] += odd[i]
        m[i] = odd[i] != both[i]
    return big, odd, both + odd, both * odd, ~big, both == odd


def numbers(n: int, A: f64["n"], m: b1["n"], out: i32["n"]):
    small = m.astype(np.int8)
    low = A.astype(f32) * m
    return (
        m + 1,
        m * A,
        2.5 - m,
        m + small,
        low,
        m.sum(),
        m.mean(),
        np.count_nonzero(m),
        np.where(m, A, -A),
        out * m,
        m < small,
        np.max(m),
        out.astype(bool),
        A.astype(bool),
    )


def reductions(n: int, A: f64["n"], m: b1["n"], out: i32["n"]):
    anything = np.any(A > 0.9)
    everything = np.all(m)
    out[0] = anything
    A[0] = everything
    return anything, everything, np.any(m) and not everything, np.isnan(A), np.max(m & (A > 0.5))


def variables(n: int, A: f64["n"], m: b1["n"], out: i32["n"]):
    found = False
    count = 0
    last = n > 3
    for i in range(n):
        ok = 0.2 < A[i] < 0.8
        found = found or ok
        count += ok
        out[i] = 2 * count - ok
        last = not last
        m[i] = found and i % 2 == 0
    return found, count, last, A[0] > 0.5, True


def marks(n: int, A: f64["n"], m: b1["n"], out: i32["n"]):
    seen = np.zeros(n, dtype=bool)
    ones = np.ones_like(m)
    for i in range(n):
        seen[int(A[i] * n)] = True
    ones[0] = n > 2
    for i in range(1, n):
        m[i] = m[i - 1] ^ seen[i]
    return seen, ones, np.logical_and(seen, m), np.logical_not(m)


def search(n: int, A: f64["n"], m: b1["n"], out: i32["n"]):
    for i, v in enumerate(A):  # noqa: SIM110
        if v > 0.9 and m[i]:
            return True
    return False


def operands(n: int, A: f64["n"], m: b1["n"], out: i32["n"]):
    for i in range(n):
        out[i] = out[i] or 3
        A[i] = (A[i] and A[n - 1 - i]) or 2.0
        k = out[i] and out[0]
        out[i] += k


def selected(n: int, A: f64["n"], m: b1["n"], out: i32["n"]):
    A[A < 0.3] = 0.0
    A[A > 0.9] += 1.0
    A[m & (A < 0.5)] = A[m & (A < 0.5)] * 2 + 1
    out[m] = -1
    out[1:][out[1:] > 3] *= 2
    rest = ~m
    A[rest] -= A[::-1][rest]
    own = A.copy()
    own[own < 0.3] = 0.5
    own[rest] += own[::-1][rest]
    own[m] = own[m] * 2
    A += own
    m[m] = False


FUNCTIONS = (masks, numbers, reductions, variables, marks, search, operands, selected)


def _arguments(n: int, seed: int) -> list[Any]:
    generator = np.random.default_rng(seed)
    A, m = generator.random(n), generator.random(n) < 0.5
    return [n, A, m, generator.integers(0, 6, n).astype(np.int32)]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("schedule", [None, "default"])
def test_results_and_types_are_those_of_python(
    function: Callable[..., Any], schedule: str | None
) -> None:
    kernel = loopwright.kernel(function)
    for seed, n in enumerate((1, 2, 5, 33)):
        expected, found = _arguments(n, seed), _arguments(n, seed)
        theirs = kernel.python(*expected)
        ours = kernel.compile(schedule, threads=2)(*found)
        np.testing.assert_equal(found, expected)
        pairs = [(ours, theirs)]
        if theirs is None or isinstance(theirs, tuple):
            pairs = [*zip(ours or (), theirs or (), strict=True)]
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-14)
            if isinstance(other, np.ndarray):
                assert one.dtype == other.dtype


def untyped(A, m):
    return np.where(m, A, 0), m.sum(axis=0), ~m[0], (m == False).sum()  # noqa: E712


def test_types_may_come_from_the_call() -> None:
    kernel = loopwright.kernel(untyped)
    for kind in (np.float64, np.int32, np.uint8):
        A = np.arange(12).reshape(4, 3).astype(kind)
        kernel.check(A, A % 5 < 2)


REFUSED = {
    "m[0] = 2": "2 does not fit b1",
    "m[0] = out[0]": "the value is i32, but 'm' has elements of type b1",
    "out[0] = (A[0] > 1) + (A[1] > 1)": "arithmetic on truth values alone",
    "out[0] = -m[0]": "'-' of a truth value",
    "x = m - m": "'-' of truth values",
    "x = m ** 2": "'\\*\\*' of truth values",
    "out[m[0]] = 2": "a subscript must be an integer",
    "out[0] = out[n > 1]": "must be affine",
    "x = A[m]": "masks are not supported",
    "B[m] = 1": "a mask of shape",
    "A[m] = A * 2": "where a mask selects some",
    "out[0] = out[0] or A[0]": "this may be i32 or f64",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_refusals(statement: str, tmp_path: Any) -> None:
    source = (
        "import loopwright\nfrom loopwright import b1, f64, i32\n@loopwright.kernel\n"
        'def f(n: int, A: f64["n"], B: f64["n", "n"], m: b1["n"], out: i32["n"]):\n'
        f"    {statement}\n"
    )
    path = tmp_path / "kernel.py"
    path.write_text(source)
    with pytest.raises(SourceError, match=REFUSED[statement]):
        exec(compile(source, str(path), "exec"), {"__name__": "kernel"})
