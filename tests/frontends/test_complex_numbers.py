"""Complex numbers in Python functions: what NumPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import c64, c128, f64


@loopwright.kernel
def filtered(
    n: int,
    m: int,
    X: c128["n", "m"],
    W: c128["m"],
    Y: c128["n", "m"],
    R: f64["n"],
    s: c128,
    t: complex,
):
    for i in range(n):
        acc = 0j
        for j in range(m):
            z = X[i, j] * W[j]
            if R[i] > 0.5:
                acc += z.conjugate() * s
            Y[i, j] = z / (X[i, j] + 2.5) - 1j * W[j] + t
        R[i] = abs(acc) + acc.real - acc.imag
        Y[i, 0] += np.exp(acc * 0.01) * (2 if R[i] > 1 else 3)


@loopwright.kernel
def whole(A: c64["n", "k"], B: c64["k", "m"], v: c64["k"], C: c64["n", "m"]):
    C[:, :] = A @ B
    C += 0.5j
    C *= 2
    C[0, :] = np.conj(C[0, :]) - C[0, :].real
    s = np.sum(C)
    y = A @ v
    return s, y, np.abs(y), A.mean(), np.vdot(v, A[0, :])


@loopwright.kernel
def untyped(A, w):
    for i in range(A.shape[0]):
        if A[i] != w:
            A[i] = w / A[i]
        A[i] = complex(A[i].imag, 3.0) + np.angle(A[i]) + A[i] ** 2
    return A[0] * w


@loopwright.kernel
def mixed(A: c64["n"], x: f64["n"], B: c128["n"], P: f64["n"]):
    scratch = np.zeros(len(A), dtype=complex)
    scratch[:] = A * x + 3
    B[:] = scratch.conj() * 2 - x / scratch
    P[:] = (B + A).real.imag + B.real * np.abs(scratch) + scratch.imag - np.real(x) + x.imag


def numbers(kind: Any, *shape: int) -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(kind)


@pytest.mark.parametrize("rows", [1, 2, 9])
@pytest.mark.parametrize("columns", [1, 5, 16, 19])
def test_results_of_numpy(rows: int, columns: int) -> None:
    real = np.random.default_rng(3).random(rows)
    w = numbers(complex, columns)
    for x in (numbers(complex, rows, columns), numbers(complex, columns, rows).T):
        filtered.check(rows, columns, x, w, numbers(complex, rows, columns), real, 1.5 - 0.5j, 2j)
    inner = (numbers(np.complex64, rows, 6), numbers(np.complex64, 6, columns))
    whole.check(*inner, numbers(np.complex64, 6), numbers(np.complex64, rows, columns))
    x = np.random.default_rng(4).random(columns)
    mixed.check(numbers(np.complex64, columns), x, np.zeros(columns, complex), np.zeros(columns))


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_types_of_the_call(kind: Any) -> None:
    untyped.check(numbers(kind, 9), 1.5 + 1j)
    untyped.check(numbers(kind, 18)[::2], 2)
    returned = untyped(numbers(kind, 9), 1.5 + 1j)
    assert type(returned) is kind


def test_schedules_change_nothing() -> None:
    given = [3, 17, numbers(complex, 3, 17), numbers(complex, 17), np.zeros((3, 17), complex)]
    given += [np.arange(3.0), 1.5 - 0.5j, 2j]
    results: list[list[Any]] = []
    for schedule in (None, "default", "parallel{loops=i}"):
        ours = [np.array(each) if isinstance(each, np.ndarray) else each for each in given]
        filtered.compile(schedule=schedule, threads=2)(*ours)
        results.append(ours)
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_arrays_of_parts_are_no_arguments() -> None:
    with pytest.raises(loopwright.errors.ArgumentTypeError, match="got float64"):
        mixed(np.zeros((4, 2), np.float64), np.zeros(4), np.zeros(4, complex), np.zeros(4))


@loopwright.kernel
def tripled(z: c128):
    return z * 3


def test_integers_that_no_float_holds_are_refused() -> None:
    with pytest.raises(loopwright.errors.ArgumentValueError, match="the integer does not fit"):
        tripled(10**400)


@loopwright.kernel
def overflowing(n: int, X: c128["n"], Y: c128["n"]):
    for i in range(n):
        X[i] = X[i] * Y[i]


def test_products_beyond_the_range_of_numbers() -> None:
    # Fused, the imaginary part is finite or infinite, where the products alone give NaN.
    big = np.array([1e308 - 3e308j, 8e307 + 1e308j, 2.0 + 1.0j])
    with np.errstate(all="ignore"):
        overflowing.check(3, big, np.array([2e308 + 1e308j, 1e300 - 1e300j, 3.0 - 1.0j]))
