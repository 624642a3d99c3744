"""Inverse trigonometric functions.

`atan(t) = t + t z p(z)` with z = t^2 and |t| <= tan(pi / 8); of larger ratios a multiple of pi / 4
and the arc tangent of a difference. `asin(s) = s + s z p(z)` up to 1 / 2; beyond, that of
`sqrt((1 - |x|) / 2)` twice from pi / 2.
"""

from __future__ import annotations

from .lanes import (
    F32,
    INFINITY,
    Mask,
    Real,
    any_two_sum,
    fma,
    polynomial,
    two_product,
    two_sum,
    where,
)
from .roots import square_root

_SPLIT = 0.4142135623730951
"""tan(pi / 8)"""


def atan(x: Real) -> Real:
    magnitude = abs(x)
    # Beyond that, the result is pi / 2 all the same.
    magnitude = where(magnitude > 2.0**60, 2.0**60, magnitude)
    is_large, is_small = magnitude > 1.0 / _SPLIT, magnitude < _SPLIT
    is_middle = ~(is_large | is_small)
    difference, lost = two_sum(x.constant(-1.0), magnitude)
    dividend = where(is_large, -1.0, where(is_small, magnitude, difference))
    total, error = any_two_sum(magnitude, 1.0)
    divisor = where(is_large, magnitude, where(is_small, 1.0, total))
    eighths = where(is_large, 2.0, where(is_small, 0.0, x.constant(1.0)))
    lost, error = where(is_middle, lost, 0.0), where(is_middle, error, 0.0)
    return _turned(eighths, (dividend, lost), (divisor, error)).with_sign_of(x)


def atan2(y: Real, x: Real) -> Real:
    """The angle of a point, from that of `(larger, smaller)` in the first eighth of a turn."""
    height, width = abs(y), abs(x)
    is_steep = height > width
    large, small = where(is_steep, height, width), where(is_steep, width, height)
    # Infinite and zero coordinates are as finite ones that have the same angle.
    small = where(small < INFINITY, where(large < INFINITY, small, 0.0), 1.0)
    large = where(large < INFINITY, where(large.equals(0.0), 1.0, large), 1.0)
    # Neither sums nor reciprocals overflow, and what counts of the smaller one is normal.
    half = 50 if x.format is F32 else 500
    lift = where(large > 2.0**half, x.constant(2.0**-10), 2.0**half)
    large, small = large * lift, small * lift
    is_flat = small < _SPLIT * large
    total, error = two_sum(large, small)
    difference, lost = two_sum(-large, small)
    divisor = where(is_flat, large, total), where(is_flat, 0.0, error)
    dividend = where(is_flat, small, difference), where(is_flat, 0.0, lost)
    eighths = where(is_flat, 0.0, x.constant(1.0))
    is_left = x.bits.has(x.format.bits - 1)
    eighths = where(is_steep, 2.0 - eighths, eighths)
    eighths = where(is_left, 4.0 - eighths, eighths)
    is_reversed = (is_steep | is_left) & ~(is_steep & is_left)
    head, tail = (where(is_reversed, -part, part) for part in dividend)
    angle = _turned(eighths, (head, tail), divisor).with_sign_of(y)
    return where(x.equals(x) & y.equals(y), angle, x + y)


def asin(x: Real) -> Real:
    magnitude = abs(x)
    is_small = ~(magnitude > 0.5)
    head, tail = _arc_sine(magnitude, is_small)
    large, rest = x.format.parts("half_pi")[:2]
    total, error = two_sum(x.constant(large), -2.0 * head)
    result = total + (error + fma(tail, -2.0, rest))
    return where(is_small, head + tail, result).with_sign_of(x)


def acos(x: Real) -> Real:
    magnitude = abs(x)
    is_small = ~(magnitude > 0.5)
    head, tail = _arc_sine(magnitude, is_small)
    # pi / 2 - asin(x), 2 asin(s), or pi - 2 asin(s)
    factor = where(is_small, -1.0, x.constant(2.0))
    is_left = x < 0.0
    factor = where(is_left, -factor, factor)
    quarters = where(is_small, x.constant(1.0), where(is_left, x.constant(2.0), 0.0))
    large, rest = x.format.parts("half_pi")[:2]
    total, error = two_sum(quarters * large, factor * head)
    return total + (error + fma(factor, tail, quarters * rest))


def _arc_sine(magnitude: Real, is_small: Mask) -> tuple[Real, Real]:
    """The arc sine of a number up to 1 / 2, else of `sqrt((1 - x) / 2)`, in two parts."""
    half = 0.5 - 0.5 * magnitude
    root, rest = square_root(half, magnitude.constant(0.0))
    s = where(is_small, magnitude, root)
    z = where(is_small, magnitude * magnitude, half)
    series = s * (z * polynomial(z, s.format.coefficients("asin")))
    return two_sum(s, series + where(is_small, 0.0, rest))


def _turned(eighths: Real, dividend: tuple[Real, Real], divisor: tuple[Real, Real]) -> Real:
    """So many times pi / 4 and the arc tangent of a small quotient, each in two parts."""
    form = eighths.format
    reciprocal = 1.0 / divisor[0]
    t = dividend[0] * reciprocal
    rest = fma(-t, divisor[0], dividend[0]) + fma(-t, divisor[1], dividend[1])
    rest = rest * reciprocal
    z = t * t
    series = t * (z * polynomial(z, form.coefficients("atan")))
    first, second = form.parts("quarter_pi")
    angle, angle_tail = two_product(eighths, first)
    total, error = two_sum(angle, t)
    return total + (error + (fma(eighths, second, angle_tail) + (rest + series)))
