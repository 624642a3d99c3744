"""Kernels compute what the Python functions do; calls, constants, pickles, threads."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright import f64
from loopwright.errors import ArgumentValueError, BoundsError, SourceError

from . import kernels, polybench


@pytest.mark.parametrize("name", kernels.CASES)
def test_same_results_as_python(name: str) -> None:
    kernel, arguments = kernels.CASES[name]
    for seed in range(3):
        kernel.check(*arguments(np.random.default_rng(seed)))


@pytest.mark.parametrize("name", ["integer", "narrow"])
def test_integers_wrap_as_in_numpy(name: str) -> None:
    """Bit for bit, with zeros as divisors."""
    kernel, arguments = kernels.CASES[name]
    args = arguments(np.random.default_rng(7))
    args[2][:3] = 0
    kernel.check(*args)


def double(n: int, A: f64["n"]):
    for i in range(n):
        A[i] = A[i] * FACTOR


FACTOR = 2.0


def test_the_check_finds_a_difference() -> None:
    kernel = loopwright.kernel(double)
    kernel.python = lambda n, A: None
    kernel.__dict__["_check_numbers"] = lambda: None
    with pytest.raises(AssertionError, match=r"double: A\[1\] is 2.0, but 1.0 in Python; 2 of 3"):
        kernel.check(3, np.array([0.0, 1.0, 2.0]))


def test_a_constant_that_has_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = loopwright.kernel(double)
    kernel.check(3, np.ones(3))
    monkeypatch.setitem(globals(), "FACTOR", 2)
    with pytest.raises(SourceError, match=r"'FACTOR' was 2.0 when .* and is 2 now"):
        kernel.check(3, np.ones(3))


def test_calls_by_name_and_declared_extents() -> None:
    kernel = loopwright.kernel(double)
    array = np.ones(4)
    kernel(A=array, n=4)
    assert array.tolist() == [2.0] * 4
    with pytest.raises(ArgumentValueError, match=r"'n' differ: n is 3, A.shape\[0\] is 4"):
        kernel(3, array)
    with pytest.raises(loopwright.errors.ArgumentCountError):
        kernel(4)
    with pytest.raises(loopwright.errors.ArgumentTypeError):
        kernel(4, 1.0)


def test_arguments_that_are_given_by_name_alone() -> None:
    @loopwright.kernel
    def scale(A: f64["n"], /, n: int, *, by: f64 = 2.0, shift: f64):
        for i in range(n):
            A[i] = A[i] * by + shift

    scale.check(np.ones(3), 3, shift=1.0)
    scale.check(np.ones(3), n=3, by=4.0, shift=1.0)
    A = np.ones(3)
    scale(A, 3, shift=0.5)
    assert A.tolist() == [2.5] * 3


def test_errors_behind_the_text_point_at_the_python_source() -> None:
    @loopwright.kernel
    def beyond(n: int, A: f64["n"]):
        for i in range(n):
            A[i] = A[i + 1]

    line = beyond.python.__code__.co_firstlineno + 3
    with pytest.raises(BoundsError) as error:
        beyond(4, np.ones(4))
    assert f"{Path(__file__).name}:{line}:" in str(error.value)


def test_schedules_and_options() -> None:
    schedule = polybench.gemm.schedule("tile{loops=i sizes=4}")
    kernel = polybench.gemm.compile(schedule, threads=1)
    assert kernel.schedule is not None and "tile" in str(kernel.schedule)
    A, B, C = np.ones((5, 6)), np.ones((6, 7)), np.ones((5, 7))
    kernel(5, 7, 6, 1.5, 0.5, C, A, B)
    assert np.all(C == 9.5)
    assert loopwright.load(polybench.gemm.mlir)["gemm"].name == "gemm"


def test_pickles_by_name_and_with_its_source() -> None:
    assert pickle.loads(pickle.dumps(polybench.gemm)) is polybench.gemm
    weight = 3.5

    @loopwright.kernel
    def local(n: int, A: f64["n"]):
        for i in range(n):
            A[i] = weight * np.sqrt(A[i])

    again = pickle.loads(pickle.dumps(local))
    assert again is not local and again.mlir == local.mlir
    assert again.python.__qualname__ == local.python.__qualname__
    array = np.full(3, 4.0)
    again(3, array)
    again.check(3, array)
    assert array.tolist() == [7.0] * 3
    assert pickle.loads(pickle.dumps(again)).mlir == local.mlir
    assert copy.deepcopy(local) is local


def test_threads_compile_once() -> None:
    kernel = loopwright.kernel(double)
    arrays = [np.ones(5) for _ in range(6)]
    threads = [threading.Thread(target=kernel, args=(5, array)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(array.tolist() == [2.0] * 5 for array in arrays)
    assert kernel.function is kernel.function


def test_what_is_no_function_or_has_no_source() -> None:
    with pytest.raises(TypeError, match="expected a function, got 3"):
        loopwright.kernel(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SourceError, match=r"must be a function written with `def`|not found"):
        loopwright.kernel(lambda n: None)
    names: dict[str, object] = {}
    exec("def unseen(n: int): pass", names)
    with pytest.raises(SourceError, match="source of 'unseen' is not at hand"):
        loopwright.kernel(names["unseen"])  # pyright: ignore[reportArgumentType]


def test_element_types() -> None:
    assert type(f64(1)) is np.float64 and str(f64["n", 3]) == "f64[n, 3]"
    with pytest.raises(ValueError, match="extent -1 is negative"):
        f64[-1]
    with pytest.raises(TypeError, match=r"f64\[\.\.\.\]: ':' is no extent; give each a name"):
        loopwright.f64[:, :]  # pyright: ignore[reportUnusedExpression]
    with pytest.raises(TypeError, match=r"extent 1\.5 is neither a number nor a name"):
        f64["n", 1.5]
