"""Inverse hyperbolic functions: logarithms of sums of a number and a much smaller one."""

from __future__ import annotations

import math

from .lanes import F32, INFINITY, Mask, Real, any_two_sum, fma, two_product, two_sum, where
from .logarithms import log_of_sum
from .roots import square_root


def asinh(x: Real) -> Real:
    """`log(1 + |x| + x^2 / (1 + sqrt(1 + x^2)))`."""
    magnitude = abs(x)
    square, square_tail = two_product(magnitude, magnitude)
    total, error = any_two_sum(square, 1.0)
    root, rest = square_root(total, error + square_tail)
    divisor, error = any_two_sum(root, 1.0)
    head, tail = _quotient((square, square_tail), (divisor, error + rest))
    head, error = two_sum(magnitude, head)
    result = _log1p(head, error + tail, magnitude, _is_large(magnitude))
    return where(_is_tiny(x), x, result.with_sign_of(x))


def acosh(x: Real) -> Real:
    """`log(1 + (x - 1) + sqrt(x^2 - 1))`."""
    square, square_tail = two_product(x, x)
    less, error = any_two_sum(square, -1.0)
    less, error = two_sum(less, error + square_tail)
    root, rest = square_root(less, error)
    difference, error = any_two_sum(x, -1.0)
    head, tail = two_sum(root, difference)
    return where(x < 1.0, math.nan, _log1p(head, tail + (rest + error), x, _is_large(x)))


def atanh(x: Real) -> Real:
    """`log(1 + 2 |x| / (1 - |x|)) / 2`."""
    magnitude = abs(x)
    divisor = any_two_sum(-magnitude, 1.0)
    head, tail = _quotient((2.0 * magnitude, magnitude.constant(0.0)), divisor)
    total, rest = any_two_sum(head, 1.0)
    result = 0.5 * log_of_sum(total, rest + tail)
    result = where(magnitude.equals(1.0), INFINITY, result)
    return where(_is_tiny(x), x, result.with_sign_of(x))


def _log1p(x: Real, small: Real, half: Real, is_large: Mask) -> Real:
    """`log(1 + x + small)`; where that is large, `log(2 half)`."""
    total, rest = any_two_sum(x, 1.0)
    total, rest = where(is_large, half, total), where(is_large, 0.0, rest + small)
    return log_of_sum(total, rest, where(is_large, 1.0, x.constant(0.0)))


def _quotient(dividend: tuple[Real, Real], divisor: tuple[Real, Real]) -> tuple[Real, Real]:
    """A quotient in two parts."""
    reciprocal = 1.0 / divisor[0]
    head = dividend[0] * reciprocal
    rest = fma(-head, divisor[0], dividend[0]) + fma(-head, divisor[1], dividend[1])
    return two_sum(head, rest * reciprocal)


def _is_large(x: Real) -> Mask:
    """Whether `sqrt(x^2 + 1)` is as good as x, and x^2 may be beyond all numbers."""
    return x > (2.0**14 if x.format is F32 else 2.0**30)


def _is_tiny(x: Real) -> Mask:
    return abs(x) < 2.0 ** -(x.format.fraction // 2 + 2)
