"""Integers are compared exactly, as in NumPy, whatever their types are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import i16, i64, u8, u64


@loopwright.kernel
def comparisons(A, B, R):
    R[:] = (
        np.where(A < B, 1, 0)
        + np.where(A <= B, 2, 0)
        + np.where(A > B, 4, 0)
        + np.where(A >= B, 8, 0)
        + np.where(A == B, 16, 0)
        + np.where(A != B, 32, 0)
    )


def edges(kind: str) -> Any:
    """Values at the ends of the type, and where f64 has no neighbours any more."""
    limits = np.iinfo(kind)
    numbers = [*range(-2, 3), 127, 255, 2**53, 2**53 + 1, 2**63 - 1, 2**63]
    numbers += [int(limits.min), int(limits.max), int(limits.max) - 1]
    return np.array([each for each in numbers if limits.min <= each <= limits.max], kind)


@pytest.mark.parametrize("kind", ["i1", "i4", "i8", "u2", "u8"])
def test_integers_of_python(kind: str) -> None:
    """Those that do not fit the type of the elements, too, on both sides."""
    step = 2 ** min(8 * np.dtype(kind).itemsize - 1, 60)

    @loopwright.kernel
    def integers(A, R):
        for i in range(R.shape[0]):
            for k in range(len(A)):
                R[i, k] = 1 if A[k] < (i // 2 - 3) * step - i % 2 else 0
                R[i, k] += 2 if A[k] <= (i // 2 - 3) * step - i % 2 else 0
                R[i, k] += 4 if (i // 2 - 3) * step - i % 2 < A[k] else 0
                R[i, k] += 8 if (i // 2 - 3) * step - i % 2 <= A[k] else 0
                R[i, k] += 16 if (i // 2 - 3) * step - i % 2 == A[k] else 0
                R[i, k] += 32 if A[k] != (i // 2 - 3) * step - i % 2 else 0

    array = edges(kind)
    integers.check(array, np.zeros((14, len(array)), "i8"))


def test_integer_arguments() -> None:
    for number in (-1, 300):
        comparisons.check(np.array([1, 255], "u1"), number, np.zeros(2, "i8"))


@pytest.mark.parametrize(
    ("one", "other"), [("u8", "i1"), ("u8", "i8"), ("i8", "u8"), ("i4", "u1"), ("u4", "i8")]
)
def test_signed_and_unsigned_arrays(one: str, other: str) -> None:
    first, second = edges(one)[:, None].copy(), edges(other)[None, :].copy()
    comparisons.check(first, second, np.zeros((first.size, second.size), "i8"))


def test_loop_variables_and_constants() -> None:
    @loopwright.kernel
    def loop(n: int, A: u8["n"], B: i16["n"], C: u64["n"], R: i64["n"]):
        for i in range(n):
            R[i] = 1 if A[i] < i + 250 else 0
            R[i] += 2 if A[i] == i - 3 else 0
            R[i] += 4 if 40000 > B[i] >= -40000 * i else 0
            R[i] += 8 if C[i] > -1 and i - 5 < C[i] else 0
            R[i] += 16 if A[i] != 256 and A[i] > -1 else 0
            R[i] += 32 if C[i] > 18446744073709551614 else 0
            R[i] += 64 if A[i] > i - 2 else 0

    A, B = np.arange(253, 263).astype("u1"), np.linspace(-32768, 32767, 10).astype("i2")
    loop.check(10, A, B, np.array([0, 2**64 - 1] * 5, "u8"), np.zeros(10, "i8"))
