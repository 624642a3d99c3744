"""Cube roots and hypotenuses."""

from __future__ import annotations

from .exponentials import power_of_two
from .lanes import F32, F64, INFINITY, Real, fma, polynomial, two_product, two_sum, where
from .logarithms import split

_CUBE_ROOTS_OF_TWO = (0.7937005259840998, 1.0, 1.2599210498948732)


def cbrt(x: Real) -> Real:
    """`2^q cbrt(2^j m)` of `2^(3 q + j) m`: one Newton step from an approximation of 1 / cbrt."""
    form = x.format
    parts = split(abs(x))
    shifted = fma(parts.k, 1.0 / 3.0, form.round_to_integer)
    exponent = shifted - form.round_to_integer
    j = fma(exponent, -3.0, parts.k)
    less, _, more = _CUBE_ROOTS_OF_TWO
    is_less, is_more = j < 0.0, j > 0.0
    number = parts.m * where(is_less, 0.5, where(is_more, 2.0, x.constant(1.0)))
    start = polynomial(parts.m, form.coefficients("inverse_cbrt"))
    start = start * where(is_less, more, where(is_more, less, x.constant(1.0)))
    square = start * start
    error = fma(-number * start, square, 1.0)
    inverse = fma(start * error, fma(error, 2.0 / 9.0, 1.0 / 3.0), start)
    inverse_square = inverse * inverse
    root = number * inverse_square
    square, square_tail = two_product(root, root)
    cube, cube_tail = two_product(square, root)
    rest = (number - cube) - fma(root, square_tail, cube_tail)
    root = fma(rest * (1.0 / 3.0), inverse_square, root)
    result = (root * power_of_two(shifted.bits)).with_sign_of(x)
    return where((abs(x) > 0.0) & (abs(x) < INFINITY), result, x + x)


def hypot(x: Real, y: Real) -> Real:
    x, y = abs(x), abs(y)
    result = _in_f64(x, y) if x.format is F32 else _in_two_parts(x, y)
    return where(x.equals(INFINITY) | y.equals(INFINITY), INFINITY, result)


def _in_f64(x: Real, y: Real) -> Real:
    """For f32: squares are exact in f64."""
    wide = x.converted(F64), y.converted(F64)
    return fma(wide[0], wide[0], wide[1] * wide[1]).square_root().converted(F32)


def _in_two_parts(x: Real, y: Real) -> Real:
    is_steep = y > x
    large, small = where(is_steep, y, x), where(is_steep, x, y)
    is_huge, is_tiny = large > 2.0**500, large < 2.0**-400
    one = x.constant(1.0)
    lift = where(is_huge, 2.0**-600, where(is_tiny, 2.0**600, one))
    lower = where(is_huge, 2.0**600, where(is_tiny, 2.0**-600, one))
    square, square_tail = two_product(large * lift, large * lift)
    other, other_tail = two_product(small * lift, small * lift)
    total, error = two_sum(square, other)
    root, rest = square_root(total, error + (square_tail + other_tail))
    return (root + rest) * lower


def square_root(x: Real, small: Real) -> tuple[Real, Real]:
    """The square root of a sum of a number and a much smaller one, and what it lacks (to 1/16)."""
    form = x.format
    root = x.square_root()
    missing = fma(-root, root, x) + small
    # 1 / root, from the bits that are nearly its logarithm.
    inverse = (2 * form.one - (1 << form.fraction - 4) - root.bits).real
    return root, missing * (0.5 * inverse)
