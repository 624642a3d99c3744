"""Arrays as they lie in memory: Fortran order, transposes, strides, tensors."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright import f64
from loopwright.errors import ArgumentValueError, OverlappingArguments


def scaled(n: int, m: int, A: f64["n", "m"], B: f64["n", "m"]):
    for i in range(n):
        for j in range(m):
            A[i, j] = A[i, j] * 2 + B[i, j] + i
    C = A + B
    C[0] = A.shape[1]
    return A, C


@pytest.mark.parametrize("first", [np.asarray, np.asfortranarray])
@pytest.mark.parametrize("second", [np.ascontiguousarray, np.asfortranarray])
def test_fortran_order(first, second) -> None:
    kernel = loopwright.kernel(scaled)
    A, B = np.random.rand(3, 5), np.random.rand(3, 5)
    expected = A.copy()
    wanted = scaled(3, 5, expected, B)
    given = first(A)
    results = kernel(3, 5, given, second(B))
    assert np.allclose(given, expected) and results[0] is given
    assert np.allclose(results[1], wanted[1]) and results[1].flags.c_contiguous


def test_any_order_of_dimensions_and_types_from_the_call() -> None:
    @loopwright.kernel
    def shift(A, B):
        A[1:] += B[:-1] * A.shape[2]

    A, B = np.random.rand(2, 3, 4).transpose(1, 2, 0), np.random.rand(4, 3, 2).transpose(1, 0, 2)
    expected = A.copy()
    shift.python(expected, B)
    shift(A, B)
    assert np.allclose(A, expected)


def test_gaps_are_refused_or_copied_with_leave() -> None:
    refusing = loopwright.kernel(scaled)
    base = np.random.rand(6, 10)
    strided, B = base[::2, 1::2], np.random.rand(3, 5)
    with pytest.raises(ArgumentValueError, match=r"'A': .* not contiguous .*copy=True"):
        refusing(3, 5, strided, B)
    copying = loopwright.kernel(copy=True)(scaled)
    expected = base.copy()
    wanted = scaled(3, 5, expected[::2, 1::2], B)
    results = copying(3, 5, strided, B)
    assert np.allclose(base, expected) and np.allclose(results[1], wanted[1])
    assert results[0] is strided
    copying(3, 5, strided, np.broadcast_to(B[0], (3, 5)))
    with pytest.raises(OverlappingArguments):
        copying(3, 5, strided, base[1:4, 2:7])
    with pytest.raises(ArgumentValueError, match="read-only"):
        copying(3, 5, np.broadcast_to(B[0], (3, 5)), B)
    with pytest.raises(ArgumentValueError, match="'n' differ"):
        copying(2, 5, strided, B)


def test_unaligned_arrays() -> None:
    raw = np.zeros(3 * 5 * 8 + 1, np.uint8)
    unaligned = raw[1:].view(np.float64).reshape(3, 5)
    B = np.random.rand(3, 5)
    with pytest.raises(ArgumentValueError, match=r"not aligned .*copy=True"):
        loopwright.kernel(scaled)(3, 5, unaligned, B)
    loopwright.kernel(scaled, copy=True)(3, 5, unaligned, B)
    assert np.allclose(unaligned, B + np.arange(3)[:, None])


def test_read_only_inputs_need_no_copy() -> None:
    B = np.random.rand(3, 5)
    B.flags.writeable = False
    loopwright.kernel(scaled)(3, 5, np.zeros((3, 5)), B)


def test_tensors_of_any_stride() -> None:
    torch = pytest.importorskip("torch")
    A, B = torch.rand(5, 3, dtype=torch.float64), torch.rand(3, 10, dtype=torch.float64)
    expected = A.numpy().T.copy()
    scaled(3, 5, expected, B.numpy()[:, ::2])
    loopwright.kernel(copy=True)(scaled)(3, 5, A.T, B[:, ::2])
    assert np.allclose(A.numpy().T, expected)
