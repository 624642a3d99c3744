"""Elementary functions are exact to one unit in the last place, special values included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.elementary import BINARY, EXACT, SCALARS, SLOW, Array, apply, exact, kernel, units

from loopwright.passes.machine.target import Target

pytestmark = pytest.mark.skipif(
    not Target.host().fuses_multiply_adds, reason="the C library is called here"
)

INTERVALS: dict[str, tuple[float, ...]] = {
    "acos": (1e-6, 0.5, 1.0),
    "acosh": (1.0, 1.01, 2.0, 100.0, 1e30, 1e300),
    "asin": (1e-6, 0.5, 1.0),
    "asinh": (1e-6, 0.3, 1.0, 10.0, 1e30, 1e300),
    "atan": (1e-6, 0.5, 1.0, 3.0, 100.0),
    "atanh": (1e-6, 0.1, 0.5, 1.0),
    "cbrt": (1e-6, 1.0, 8.0, 1e30, 1e300),
    "cos": (1.0, 10.0, 3e4, 4e8, 1e300),
    "cosh": (1e-4, 1.0, 10.0, 88.0, 710.0),
    "erf": (1e-4, 0.5, 1.0, 4.0, 6.0),
    "erfc": (1e-4, 0.5, 1.0, 4.0, 10.2, 27.3),
    "exp": (1e-4, 1.0, 10.0, 90.0, 750.0),
    "exp10": (1e-4, 1.0, 10.0, 45.0, 330.0),
    "exp2": (1e-4, 1.0, 10.0, 130.0, 1080.0),
    "expm1": (1e-6, 0.3, 1.0, 40.0, 700.0),
    "log": (1.0, 4.0, 1e30, 1e300),
    "log10": (1.0, 4.0, 1e30, 1e300),
    "log1p": (1e-6, 0.3, 1.0, 4.0, 1e30),
    "log2": (1.0, 4.0, 1e30, 1e300),
    "sin": (1e-4, 1.0, 10.0, 3e4, 4e8, 1e300),
    "sinh": (1e-4, 0.3, 1.0, 10.0, 88.0, 710.0),
    "tan": (1e-4, 1.0, 10.0, 3e4, 4e8, 1e300),
    "tanh": (1e-4, 0.3, 1.0, 10.0, 25.0),
}
"""The largest magnitudes of arguments."""

SAMPLES = 4000
SLOW_SAMPLES = 400
"""Where the result with more digits takes long."""

SPECIAL = (0.0, 1.0, 0.5, 1.5, 2.0, 3.0, 5e-324, 1e-40, 3e38, 1.7e308, 2.0**53, np.inf, np.nan)


def arguments(name: str, scalar: str) -> Array:
    """Numbers of all magnitudes, and special ones."""
    random = np.random.default_rng(0)
    count = SLOW_SAMPLES if name in SLOW else SAMPLES
    parts = [random.uniform(-each, each, count) for each in INTERVALS[name]]
    parts.append(random.integers(0, 1 << 64, count, dtype=np.uint64).view(np.float64))
    parts.append(np.array([sign * each for sign in (1, -1) for each in SPECIAL]))
    with np.errstate(all="ignore"):
        return np.concatenate(parts).astype(SCALARS[scalar])


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", INTERVALS)
def test_the_error_is_at_most_one_unit(name: str, scalar: str) -> None:
    values = arguments(name, scalar)
    result, wanted = apply(kernel(name, scalar, None), values), exact(name, values)
    assert np.max(units(result, wanted)) <= 1.0
    signs = values if name == "erf" else wanted
    assert np.all((np.signbit(result) == np.signbit(signs)) | np.isnan(result))


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_special_numbers(name: str, scalar: str) -> None:
    numbers = [sign * each for sign in (1, -1) for each in SPECIAL]
    with np.errstate(all="ignore"):
        pairs = np.array(list(itertools.product(numbers, numbers))).astype(SCALARS[scalar])
    base, exponent = pairs[:, 0].copy(), pairs[:, 1].copy()
    result = apply(kernel(name, scalar, None), base, exponent)
    wanted = exact(name, base, exponent)
    assert np.max(units(result, wanted)) <= 1.0
    assert np.all((np.signbit(result) == np.signbit(wanted)) | np.isnan(result))


@pytest.mark.parametrize("scalar", SCALARS)
def test_the_error_of_powers_is_at_most_one_unit(scalar: str) -> None:
    random = np.random.default_rng(0)
    largest = 1074.0 if scalar == "f64" else 149.0
    for low, high in ((0.0, 10.0), (0.7, 1.45), (0.999, 1.001)):
        base = random.uniform(low, high, 8 * SAMPLES).astype(SCALARS[scalar])
        bound = largest / np.maximum(np.abs(np.log2(base)), 1e-7)
        exponent = (random.uniform(-1.0, 1.0, len(base)) * bound).astype(base.dtype)
        result = apply(kernel("powf", scalar, None), base, exponent)
        assert np.max(units(result, exact("powf", base, exponent))) <= 1.0


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", ["atan2", "fdim", "hypot"])
def test_the_error_of_pairs_is_at_most_one_unit(name: str, scalar: str) -> None:
    random = np.random.default_rng(0)
    # Of one magnitude, of several, and where results are subnormal, or squares are beyond all.
    for low, high in ((-1, 1), (-30, 30), (-140, -100), (60, 120), (-1070, -900), (400, 1023)):
        numbers = [
            np.ldexp(random.uniform(-2.0, 2.0, SAMPLES), random.integers(low, high, SAMPLES))
            for _ in range(2)
        ]
        with np.errstate(all="ignore"):
            first, second = (each.astype(SCALARS[scalar]) for each in numbers)
        result = apply(kernel(name, scalar, None), first, second)
        assert np.max(units(result, exact(name, first, second))) <= 1.0


def test_every_function_has_a_test() -> None:
    assert {*INTERVALS, *BINARY} == {*EXACT}
