"""Calls between kernels, results, defaults, `prange`, and functions without annotations."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright import f32, f64, i32, prange
from loopwright.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    ArgumentValueError,
    SourceError,
)

FACTOR = 0.5


@loopwright.kernel
def scale(n: int, x: f64["n"], by: float = 2.0):
    for i in range(n):
        x[i] = x[i] * by * FACTOR


@loopwright.kernel
def normalised(x):
    total = np.sum(x * x)
    return total, x / np.sqrt(total)


@loopwright.kernel
def relu(v: f64):
    return v if v > 0 else 0.0


@loopwright.kernel
def everything(n: int, A: f64["n", "n"], x: f64["n"]):
    for i in range(n):
        scale(n, A[i], by=0.3)
        scale(n, A[:, i])
        for j in range(n):
            A[i, j] = relu(A[i, j] - 0.05) * 2 + relu(-1.0)
    total, y = normalised(x)
    x += y * FACTOR
    x[0] = total
    total, z = normalised(A[0])
    A[1] = z
    return y, total, x, n


def test_kernels_call_kernels() -> None:
    arguments = [5, np.random.rand(5, 5), np.random.rand(5)]
    everything.check(*arguments)
    y, total, x, n = everything(*arguments)
    assert x is arguments[2] and type(total) is np.float64 and n == 5
    assert np.isclose(np.sum(y * y), 1.0)


def test_errors_inside_of_a_called_kernel_point_at_it() -> None:
    @loopwright.kernel
    def beyond(n: int, A: f64["n", "n"]):
        scale(n, A[n], 2.0)

    with pytest.raises(loopwright.errors.BoundsError) as error:
        beyond(3, np.ones((3, 3)))
    line = scale.python.__code__.co_firstlineno + 3
    assert f"test_calls.py:{line}:" in str(error.value)


def test_constants_of_called_kernels_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    @loopwright.kernel
    def outer(n: int, x: f64["n"]):
        scale(n, x)

    outer.check(3, np.ones(3))
    monkeypatch.setitem(globals(), "FACTOR", 1)
    with pytest.raises(SourceError, match=r"'FACTOR' was 0.5 when .* 'outer' .* and is 1 now"):
        outer.check(3, np.ones(3))


@loopwright.kernel
def endless(x):
    return endless(x)


def test_a_kernel_that_calls_itself_is_refused() -> None:
    with pytest.raises(SourceError, match="'endless' is not defined"):
        endless(np.ones(3))


def test_defaults_and_names() -> None:
    array = np.ones(3)
    scale(3, array)
    scale(x=array, n=3, by=4.0)
    assert array.tolist() == [2.0] * 3
    with pytest.raises(ArgumentCountError, match="missing a required argument: 'x'"):
        scale(3)
    with pytest.raises(ArgumentCountError, match="unexpected keyword argument 'y'"):
        scale(3, array, y=2)


def test_defaults_are_pickled() -> None:
    @loopwright.kernel
    def shifted(n: int, x: f64["n"], by: float = FACTOR * 3, *, again: float = -FACTOR):
        x += by + again

    array = np.zeros(2)
    pickle.loads(pickle.dumps(shifted))(2, array)
    shifted(2, array, again=FACTOR)
    assert array.tolist() == [3.0, 3.0]


def test_results() -> None:
    @loopwright.kernel
    def results(n: int, A: f32["n", "m"], K: i32["m"]):
        rows = np.zeros(n)
        for i in range(n):
            for j in range(len(K)):
                rows[i] += A[i, j]
        return rows, np.sum(K), A[1:, ::2].copy(), A.T @ A, n // 2, rows[0], 1.5, A

    A, whole = np.random.rand(4, 5).astype(np.float32), np.arange(5, dtype=np.int32)
    results.check(4, A, whole)
    found = results(4, A, whole)
    assert [type(each) for each in found[4:7]] == [int, np.float64, float]
    assert found[7] is A and found[2].dtype == np.float32
    with pytest.raises(ArgumentCountError, match="missing a required argument: 'K'"):
        results(4, A)
    kernel = results.compile(threads=1)
    assert np.allclose(kernel(4, A, whole)[3], A.T @ A)
    assert np.allclose(pickle.loads(pickle.dumps(kernel))(4, A, whole)[0], found[0])
    with pytest.raises(ArgumentValueError, match="'n' differ"):
        kernel(3, A, whole)


def test_a_promise_that_is_kept_and_one_that_is_not() -> None:
    @loopwright.kernel
    def kept(n: int, A: f64["n", "n"]):
        for t in range(3):
            for i in prange(n):
                s = 0.0
                for j in range(n):
                    s += A[i, j]
                A[i, :] = s + t

    @loopwright.kernel
    def broken(n: int, x: f64["n"]):
        for t in range(3):
            for i in prange(1, n):
                x[i] = x[i - 1] * 2

    kept.check(4, np.random.rand(4, 4))
    with pytest.raises(SourceError) as error:
        broken(4, np.ones(4))
    line = broken.python.__code__.co_firstlineno + 3
    assert f"test_calls.py:{line}:13: error: the iterations of this loop are not" in str(
        error.value
    )
    assert "flow dependence from S0 to S0 on x" in str(error.value)


def blur(A, B, w=0.25):
    B[1:-1, 1:-1] = w * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
    return np.sum(B)


def test_types_from_the_arguments() -> None:
    kernel = loopwright.kernel(blur)
    with pytest.raises(SourceError, match="types of the arguments of 'blur' are not known yet"):
        print(kernel.mlir)
    for kind in (np.float64, np.float32):
        for shape in ((5, 5), (5, 6)):
            kernel.check(np.random.rand(*shape).astype(kind), np.zeros(shape, kind))
            assert f"x{'f64' if kind is np.float64 else 'f32'}>" in kernel.mlir
    assert kernel.typed(np.ones((3, 3)), np.ones((3, 3))) is kernel.typed(
        np.ones((4, 4)), np.ones((4, 4)), 0.5
    )
    again = pickle.loads(pickle.dumps(kernel))
    assert again(np.ones((3, 3)), np.zeros((3, 3))) == 1.0
    with pytest.raises(ArgumentTypeError, match="the argument 'B' is list"):
        kernel(np.ones((3, 3)), [[1.0]])
    with pytest.raises(SourceError, match="does not fit the shape"):
        kernel(np.ones((4, 4)), np.ones((5, 4)))


def test_explain_and_save(tmp_path: Path) -> None:
    kernel = loopwright.kernel(blur)
    text = kernel.explain(np.ones((5, 5)), np.ones((5, 5)), threads=1)
    assert f"{Path(__file__).name}:{blur.__code__.co_firstlineno}: blur(A: f64" in text
    assert "as written:\n    for i0" in text and "not parallel as written:" in text
    kernel.save(tmp_path / "blur.mlir")
    assert (tmp_path / "blur.mlir").read_text() == kernel.mlir
    with pytest.raises(loopwright.errors.BuildError):
        kernel.save(tmp_path / "blur.txt")
    with pytest.raises(TypeError, match="blur: path is a text or a Path, not 5"):
        kernel.save(5)  # pyright: ignore[reportArgumentType]


def test_integers_that_are_extents() -> None:
    @loopwright.kernel
    def inner(n, A, B):
        A[1 : n - 1] = B[2:] + B[:-2]

    for n in (5, 6, 5):
        inner.check(n, np.ones(n), np.ones(n))
    with pytest.raises(SourceError, match=r"\(A.shape\[0\] - 2,\) does not fit .* \(n - 2,\)"):
        inner(5, np.ones(6), np.ones(6))


def test_types_from_the_arguments_in_threads() -> None:
    kernel = loopwright.kernel(blur)
    results: list[float] = []

    def run(extent: int) -> None:
        results.append(kernel(np.ones((extent, 3)), np.zeros((extent, 3))))

    threads = [threading.Thread(target=run, args=(extent,)) for extent in (3, 4, 5, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [1.0, 2.0, 2.0, 3.0]
