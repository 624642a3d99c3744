"""Square roots by products have the bits of those that IEEE 754 asks for."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from support.llvm_code import llvm_ir

import loopwright
from loopwright.lowering.llvm.square_roots import FORMATS, Format, improved_root
from loopwright.passes.machine.target import Target

DIGITS = {32: 24, 64: 53}

PROGRAM = """
func.func @f(%n: index, %x: memref<?xKIND>, %y: memref<?xKIND>) {
  affine.for %i = 0 to %n {
    %a = affine.load %x[%i] : memref<?xKIND>
    %b = math.sqrt %a : KIND
    affine.store %b, %y[%i] : memref<?xKIND>
  }
  return
}
"""


def rounded(value: Fraction, digits: int) -> Fraction:
    """To the nearest number of so many binary digits, to an even one between two."""
    if not value:
        return value
    numerator, denominator = abs(value).as_integer_ratio()
    unit = Fraction(2) ** (numerator.bit_length() - denominator.bit_length() - digits)
    while abs(value) / unit >= 2**digits:
        unit *= 2
    return round(value / unit) * unit


def root(value: Fraction, digits: int) -> Fraction:
    """The square root, rounded once."""
    scale = 4 ** (digits + 4)
    below = isqrt(int(value * scale * scale))
    is_exact = below * below == value * scale * scale
    return rounded(Fraction(2 * below + (not is_exact), 2 * scale), digits)


def roots_of(residue: int, bits: int) -> set[int]:
    """All m with m^2 = residue modulo 2^bits, of a residue that is 1 modulo 8."""
    found = 1
    for known in range(3, bits):
        if (found * found - residue) >> known & 1:
            found += 1 << (known - 1)
    half = 1 << (bits - 1)
    return {(sign * found + more) % (1 << bits) for sign in (1, -1) for more in (0, half)}


def hard_values(digits: int) -> Iterator[Fraction]:
    """Numbers from 1 to 4 whose roots are next to the middle m / 2^digits of two neighbours.

    As integers they are (m^2 + k) / 2^(digits + 1) or, from 2 on, half of that, with a small k.
    """
    for k in range(-511, 512, 2):
        if -k % 8 != 1:
            continue
        for octave in (1, 2):
            for middle in roots_of(-k % (1 << (digits + octave)), digits + octave):
                value = Fraction(middle * middle + k, 4**digits)
                if octave <= value < 2 * octave:
                    yield value


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: str(form.number))
def test_roots_near_the_middle_of_two_numbers(form: Format) -> None:
    digits = DIGITS[form.integer.width]
    values = list(hard_values(digits))
    assert len(values) > 100 and all(rounded(value, digits) == value for value in values)
    values += [Fraction(1), Fraction(2), Fraction(4) - Fraction(4, 2**digits)]
    for value in values:
        expected = root(value, digits)
        for error in (-1, Fraction(1, 3), 1):
            estimate = (1 + error / Fraction(2**14)) * root(value, 200) / value
            found = improved_root(
                value,
                rounded(estimate, digits),
                Fraction(1, 2),
                form.steps,
                lambda a, b: rounded(a * b, digits),
                lambda a, b, c: rounded(a * b + c, digits),
                lambda a: -a,
            )
            assert found == expected, value


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_same_bits_as_single_roots(kind: str) -> None:
    dtype, bits = {"f32": ("f4", "u4"), "f64": ("f8", "u8")}[kind]
    function = loopwright.load(PROGRAM.replace("KIND", kind))["f"]
    source = np.random.default_rng(0)
    anything = source.integers(0, np.iinfo(bits).max, 4096, dtype=bits).view(dtype)
    usual = source.random(4096).astype(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 5e-324, 1e-45, 1e38], dtype)
    values = np.concatenate([anything, usual, special, usual[:64], special[:2], usual[:3]])
    for lanes in (4, 8, 16):
        found = np.zeros_like(values)
        kernel = function.compile(f"vectorize{{loops=i width={lanes}}}", threads=1)
        kernel(len(values), values, found)
        with np.errstate(invalid="ignore"):
            expected = np.sqrt(values)
        is_number = ~np.isnan(expected)
        assert np.isnan(found[~is_number]).all()
        np.testing.assert_array_equal(found.view(bits)[is_number], expected.view(bits)[is_number])


@pytest.mark.parametrize(
    ("target", "kind", "lanes", "fast_math", "by_products"),
    [
        ("sapphirerapids", "f64", 8, False, True),
        ("sapphirerapids", "f64", 8, True, True),
        ("sapphirerapids", "f32", 16, False, True),
        ("sapphirerapids", "f32", 16, True, False),  # LLVM estimates these itself
        ("sapphirerapids", "f64", 4, False, False),
        ("zen4", "f64", 8, False, False),
        ("zen3", "f64", 4, False, False),
    ],
)
def test_where_products_take_half_the_time(
    target: str, kind: str, lanes: int, fast_math: bool, by_products: bool
) -> None:
    function = loopwright.load(PROGRAM.replace("KIND", kind))["f"]
    schedule = f"vectorize{{loops=i width={lanes}}}"
    text = llvm_ir(function, schedule, Target.named(target), fast_math=fast_math)
    assert ("rsqrt14" in text) == by_products
