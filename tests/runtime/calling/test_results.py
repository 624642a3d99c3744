"""Scalars that a kernel takes by value, and what it returns."""

from __future__ import annotations

import numpy as np
import pytest
from support.runtime_programs import ANY, DOT, SCALARS

import loopwright
from loopwright.errors import KernelError
from loopwright.runtime.kernel import Kernel


def compiled(text: str) -> Kernel:
    (function,) = loopwright.load(text).values()
    return function.compile()


@pytest.fixture(scope="module")
def scalars() -> Kernel:
    return compiled(SCALARS)


def test_results_of_every_type(scalars: Kernel) -> None:
    cell = np.zeros(())
    results = scalars(-7, 2**62, True, 0.1, 0.1, 5, cell)
    assert results == (-7, 2**62, True, float(np.float32(0.1)), 0.1, 5)
    assert isinstance(results, tuple)
    assert [type(result) for result in results] == [int, int, bool, float, float, int]
    assert cell == 0.1


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (0, 2**31, "argument 1 'a': 2147483648 does not fit into i32, which holds"),
        (2, 2, "argument 3 'c': 2 does not fit into i1, which holds 0 to 1"),
        (6, np.float64(1), "argument 7 'p': expected an array of float64, got numpy.float64"),
        (6, np.zeros(1), "argument 7 'p': expected 0 dimensions, got 1"),
    ],
)
def test_refuses_scalars(scalars: Kernel, position: int, value: object, message: str) -> None:
    arguments: list[object] = [1, 1, 1, 1.0, 1.0, 1, np.zeros(())]
    arguments[position] = value
    with pytest.raises(KernelError) as caught:
        scalars(*arguments)
    assert message in str(caught.value)


def test_one_result() -> None:
    dot = compiled(DOT)
    x = np.arange(10.0)
    assert dot(10, x, x) == 285.0
    assert isinstance(dot(10, x, x), float)


def test_booleans() -> None:
    any_true = compiled(ANY)
    flags = np.zeros(5, bool)
    assert any_true(5, flags) is False
    flags[3] = True
    assert any_true(5, flags) is True
