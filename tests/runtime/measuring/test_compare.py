"""Whether two results agree."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.runtime.measuring.compare import compare

ONE = np.array([1.0, 2.0, 4.0])


def test_equal_bits() -> None:
    agreement = compare("A", ONE, ONE.copy(), 1)
    assert agreement.bit_equal
    assert agreement.agrees
    assert str(agreement) == "A: bit-equal"


def test_equal_nan() -> None:
    array = np.array([1.0, np.nan])
    assert str(compare("A", array, array.copy(), 1)) == "A: bit-equal (with NaN)"


def test_rounding_is_tolerated_and_more_of_it_after_more_operations() -> None:
    eps = np.finfo("f8").eps
    close = compare("A", ONE + np.array([0, 0, 8 * eps]), ONE, 1)
    assert not close.bit_equal
    assert close.agrees
    assert close.difference == 8 * eps
    assert close.relative == 2 * eps
    far = ONE + np.array([0, 0, 400 * eps])
    assert not compare("A", far, ONE, 1).agrees
    assert compare("A", far, ONE, 100).agrees


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 4.1])
@pytest.mark.parametrize("swap", [False, True])
def test_wrong_values(wrong: float, swap: bool) -> None:
    other = np.array([1.0, 2.0, wrong])
    result, reference = (ONE, other) if swap else (other, ONE)
    agreement = compare("A", result, reference, 1)
    assert not agreement.agrees
    assert "largest difference" in str(agreement)


def test_signs_of_infinity_matter() -> None:
    assert not compare("A", np.array([np.inf]), np.array([-np.inf]), 1).agrees


def test_zero_is_not_close_to_anything() -> None:
    assert not compare("A", np.array([1e-300]), np.zeros(1), 1).agrees


def test_differences_that_overflow() -> None:
    assert not compare("A", np.array([1e308]), np.array([-1e308]), 1e6).agrees


def test_integers_are_exact() -> None:
    reference = np.array([1, 2, 3], "i4")
    assert compare("A", reference.copy(), reference, 1e9).agrees
    agreement = compare("A", reference + np.array([0, 1, 1], "i4"), reference, 1e9)
    assert not agreement.agrees
    assert agreement.difference == 2


def test_empty_arrays_agree() -> None:
    assert compare("A", np.zeros((0, 3)), np.zeros((0, 3)), 0).agrees
