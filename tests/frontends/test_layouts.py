"""Arrays as they lie in memory: Fortran order, transposes, strides, tensors."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright import f64
from loopwright.errors import ArgumentTypeError, ArgumentValueError, OverlappingArguments


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


VIEWS = {
    "every second": lambda base: base[::2, 1::2],
    "a block": lambda base: base[1:4, 2:7],
    "backwards": lambda base: base[5:2:-1, ::-2],
    "transposed": lambda base: base.reshape(10, 6)[:9:2, 1:6:2].T,
    "a plane": lambda base: base.reshape(3, 5, 4)[:, :, 1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_gaps(name) -> None:
    kernel = loopwright.kernel(scaled)
    base, B = np.random.rand(6, 10), np.random.rand(6, 10)
    expected = base.copy()
    wanted = scaled(3, 5, VIEWS[name](expected), VIEWS[name](B))
    given = VIEWS[name](base)
    results = kernel(3, 5, given, VIEWS[name](B))
    assert np.allclose(base, expected) and np.allclose(results[1], wanted[1])
    assert results[0] is given
    kernel(3, 5, given, np.broadcast_to(B[0, :5], (3, 5)))
    scaled(3, 5, VIEWS[name](expected), np.broadcast_to(B[0, :5], (3, 5)))
    assert np.allclose(base, expected)


def test_what_gaps_do_not_allow() -> None:
    refusing, copying = loopwright.kernel(scaled), loopwright.kernel(scaled, copy=True)
    base = np.random.rand(6, 10)
    strided, B = base[::2, 1::2], np.random.rand(3, 5)
    for kernel in (refusing, copying):
        with pytest.raises(OverlappingArguments):
            kernel(3, 5, strided, base[1:4, 2:7])
        with pytest.raises(ArgumentValueError, match="'n' differ: n is 2, A"):
            kernel(2, 5, strided, B)
        with pytest.raises(ArgumentTypeError, match="expected elements of type float64"):
            kernel(3, 5, strided.astype("f4")[:, ::-1], B)
    with pytest.raises(ArgumentValueError, match="is read-only"):
        copying(3, 5, np.broadcast_to(B[0], (3, 5)), B)
    expected = base.copy()
    for kernel in (refusing, copying):
        scaled(3, 5, expected[:3, :5], expected[:3, 5:])
        kernel(3, 5, base[:3, :5], base[:3, 5:])
        assert np.allclose(base, expected)


def exchanged(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            t = A[i, j]
            A[i, j] = B[i, j] + i
            B[i, j] = 2 * t
    for i in range(A.shape[0]):
        for j in range(1, A.shape[1]):
            if B[i, j] > 3:
                A[i, j] = B[i, j - 1] - A[i, j]


APART = {
    "columns": lambda x: (x[:9, 1::3], x[:9, 0::3]),
    "rows": lambda x: (x[::2], x[1::2]),
    "halves": lambda x: (x[:, :12], x[:, 12:]),
    "chessboard": lambda x: (x[::2, ::2], x[1::2, 1::2]),
    "backwards": lambda x: (x[::2, ::-1], x[1::2]),
}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "i2", "u1"])
def test_elements_of_one_array_in_the_gaps_of_another(name: str, kind: str) -> None:
    kernel = loopwright.kernel(exchanged)
    for height, width in ((18, 24), (2, 36), (200, 96)):
        base = (np.arange(height * width) % 7).reshape(height, width).astype(kind)
        expected = base.copy()
        exchanged(*APART[name](expected))
        kernel(*APART[name](base))
        assert np.array_equal(base, expected)


def summed(A):
    return A.sum()


def test_what_no_memory_is_known_behind() -> None:
    @loopwright.kernel
    def double(n: int, x: f64["n"]):
        x *= 2

    whole, odd = np.ones(10), np.ones(9)
    columns, table = np.ones((2, 6))[:, ::2], np.ones((2, 5))
    double(5, whole[::2])
    with pytest.raises(ArgumentValueError, match=r"not contiguous .*no code is made .*copy=True"):
        double(5, odd[::2])
    total = loopwright.kernel(summed)
    assert total(columns) == 6.0
    for refused in (table[:, ::2], np.diagonal(table)):
        with pytest.raises(ArgumentValueError, match=r"no code is made .*copy=True"):
            total(refused)
    loopwright.kernel(double.python, copy=True)(5, odd[::2])
    assert whole.tolist() == [2.0, 1.0] * 5 and odd.tolist() == [2.0, 1.0] * 4 + [2.0]


def test_one_number_as_an_array() -> None:
    @loopwright.kernel
    def total(A, B):
        return (A[1:] + B[1:]).sum(axis=0)

    total.check(np.broadcast_to(2.5, (3, 4)), np.random.rand(3, 4))
    total.check(np.broadcast_to(2.5, (3, 4)), np.random.rand(6, 4)[::2])


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
    loopwright.kernel(scaled)(3, 5, A.T, B[:, ::2])  # the last gap is memory of the tensor
    assert np.allclose(A.numpy().T, expected)
    last = B[:, 1::2]  # behind it is none: what is before the first element is read
    scaled(3, 5, expected, last.numpy())
    loopwright.kernel(scaled)(3, 5, A.T, last)
    assert np.allclose(A.numpy().T, expected)


LAID_OUT = {
    "row-major": lambda array: array.copy(),
    "Fortran order": np.asfortranarray,
    "with gaps": lambda array: np.repeat(np.repeat(array, 2, 0), 2, 1)[::2, ::2],
    "DLPack": lambda array: _Exporter(np.asfortranarray(array)),
}


class _Exporter:
    """An array of another library, which exports its memory and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.shape = array.shape

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> object:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("name", LAID_OUT)
def test_explain_and_tune_take_what_a_call_takes(name) -> None:
    kernel = loopwright.kernel(scaled)
    A, B = np.random.rand(4, 6), np.random.rand(4, 6)
    given = LAID_OUT[name](A)
    assert "schedule for" in kernel.explain(4, 6, given, B)
    kernel.tune(4, 6, given, B, threads=1, space="looper", beam=1)
    after = given.array if name == "DLPack" else given
    assert np.array_equal(after, A)
    expected = A.copy()
    scaled(4, 6, expected, B)
    kernel(4, 6, given, B)
    assert np.allclose(after, expected)


def test_calls_take_turns_between_layouts() -> None:
    kernel = loopwright.kernel(scaled)
    B = np.random.rand(4, 6)
    for name in (*LAID_OUT, *reversed(LAID_OUT)):
        A = np.random.rand(4, 6)
        given = LAID_OUT[name](A)
        kernel(4, 6, given, B)
        scaled(4, 6, A, B)
        assert np.allclose(given.array if name == "DLPack" else given, A)
    with pytest.raises(ArgumentTypeError, match="expected 2 dimensions, got 3"):
        kernel(4, 6, np.zeros((4, 6, 2)).T, B)
