"""Kernels mean the same in all forms: called, as text that is loaded again, and as C libraries."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import f64, i8, u8, u32, u64
from loopwright.errors import USER_ERRORS, ArgumentTypeError
from loopwright.runtime.library.interface import c_type


@loopwright.kernel
def slices(n: int, m: int, A: f64["n"], B: f64["p"]):
    for k in range(2):
        A[1:m] = B[: m - 1] + k
    A[m // 3 :: 2] += 1.0


@loopwright.kernel
def signs(n: int, s: u8, t: u64, A: f64["n"], U: u8["n"], V: i8["n"]):
    for i in range(n):
        A[i] += s // 2 + U[i] // 2 + V[i] // 2 + t // 2
    U[0] = s
    return U.max(), s, t // u32(3)


def _accepts(call: Callable[..., object], *args: object) -> bool:
    try:
        call(*args)
    except USER_ERRORS:
        return False
    return True


def _library(kernel: Any, folder: Path) -> Callable[..., int]:
    """The C function of a kernel; arrays are passed with their extents."""
    name = kernel.python.__name__
    kernel.save(folder / f"{name}.so")
    function = getattr(ctypes.CDLL(str(folder / f"{name}.so")), name)
    arguments = kernel.function.signature.arguments

    def call(*values: Any) -> int:
        passed: list[Any] = []
        for argument, value in itertools.zip_longest(arguments, values):
            if isinstance(value, np.ndarray):
                passed.append(ctypes.c_void_p(value.ctypes.data))
                if argument is not None:
                    passed += [ctypes.c_int64(extent) for extent in value.shape]
            else:
                passed.append(argument.element.ctype(value))
        return function(*passed)

    return call


def test_the_same_sizes_are_refused(tmp_path: Path) -> None:
    text = loopwright.load(slices.mlir)["slices"].compile(None)
    library = _library(slices, tmp_path)
    verdicts: set[bool] = set()
    for n, rows, m, p in itertools.product((4, 6), (4, 6), (-7, -4, -1, 0, 1, 4, 6, 9), (3, 6)):
        arrays = [(np.arange(rows) * 1.0, np.ones(p)) for _ in range(3)]
        accepted = _accepts(slices, n, m, *arrays[0])
        assert _accepts(text, n, m, *arrays[1]) == accepted, (n, rows, m, p)
        assert (library(n, m, *arrays[2]) == 0) == accepted, (n, rows, m, p)
        verdicts.add(accepted)
        if accepted:
            expected = np.arange(rows) * 1.0
            slices.python(n, m, expected, np.ones(p))
            for result, _ in arrays:
                np.testing.assert_array_equal(result, expected)
    assert verdicts == {True, False}


def test_signs_are_kept(tmp_path: Path) -> None:
    text = loopwright.load(signs.mlir)["signs"].compile(None)
    library = _library(signs, tmp_path)
    given = (
        200,
        2**64 - 2,
        np.zeros(3),
        np.array([7, 255, 128], "u1"),
        np.array([-5, 7, -128], "i1"),
    )

    def copies() -> list[Any]:
        return [3, *(np.array(v) if isinstance(v, np.ndarray) else v for v in given)]

    expected = copies()
    expected[1:3] = np.uint8(200), np.uint64(2**64 - 2)
    results = signs.python(*expected)
    for call in (signs, text):
        values = copies()
        assert call(*values) == results
        np.testing.assert_array_equal(values[3], expected[3])
        np.testing.assert_array_equal(values[4], expected[4])
    values = copies()
    cells = np.zeros(1, "u1"), np.zeros(1, "u1"), np.zeros(1, "u8")
    assert library(*values, *cells) == 0
    assert tuple(int(cell[0]) for cell in cells) == results
    np.testing.assert_array_equal(values[3], expected[3])


def test_arrays_of_the_other_sign_are_refused() -> None:
    text = loopwright.load(signs.mlir)["signs"].compile(None)
    zeros = np.zeros(3)
    for call in (signs, text):
        with pytest.raises(
            ArgumentTypeError, match=r"'U': expected elements of type uint8, got int8"
        ):
            call(3, 1, 1, zeros, np.zeros(3, "i1"), np.zeros(3, "i1"))
    with pytest.raises(ArgumentTypeError, match="'V': expected elements of type int8, got uint8"):
        signs(3, 1, 1, zeros, np.zeros(3, "u1"), np.zeros(3, "u1"))


def test_headers_have_the_types_of_the_annotations() -> None:
    arguments = signs.function.signature.arguments
    assert [c_type(each.element) for each in arguments] == [
        "int64_t", "uint8_t", "uint64_t", "double", "uint8_t", "int8_t",
    ]  # fmt: skip
    assert [c_type(each) for each in signs.function.signature.results] == [
        "uint8_t", "uint8_t", "uint64_t",
    ]  # fmt: skip
