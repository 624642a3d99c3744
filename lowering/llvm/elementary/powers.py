"""Powers: `2^(y log2 x)`, with a logarithm of more bits than the format has."""

from __future__ import annotations

import math

from .exponentials import power_of_two, scaled
from .lanes import (
    F32,
    F64,
    INFINITY,
    Real,
    fma,
    polynomial,
    precise_polynomial,
    two_product,
    two_sum,
    where,
)
from .logarithms import split


def power(x: Real, y: Real) -> Real:
    magnitude = _in_f64(abs(x), y) if x.format is F32 else _in_two_parts(abs(x), y)
    # Also where the exponent is infinite.
    magnitude = where(abs(x).equals(1.0), where(y.equals(y), 1.0, y), magnitude)
    half = 0.5 * y
    is_integer = y.truncated().equals(y)
    is_odd = is_integer & ~half.truncated().equals(half)
    has_sign = x.bits.has(x.format.bits - 1)
    result = where(has_sign & is_odd, -magnitude, magnitude)
    is_imaginary = (x < 0.0) & (x > -INFINITY) & ~is_integer & y.equals(y) & (abs(y) < INFINITY)
    result = where(is_imaginary, math.nan, result)
    return where(x.equals(1.0) | y.equals(0.0), 1.0, result)


def _logarithm(x: Real, finite: Real) -> Real:
    """The logarithm of a magnitude, which may be zero, infinite or NaN."""
    return where(x.equals(0.0), -INFINITY, where(x < INFINITY, finite, x))


def _in_f64(x: Real, y: Real) -> Real:
    """For f32: the 53 bits of f64 are more than enough."""
    wide = x.converted(F64)
    parts = split(wide)
    f = parts.m - 1.0
    s = f / (f + 2.0)
    z = s * s
    natural = s * fma(z, polynomial(z, F64.coefficients("log_short")), 2.0)
    logarithm = _logarithm(wide, fma(natural, F64.parts("log2_e")[0], parts.k))
    bounded = (y.converted(F64) * logarithm).clamped(-200.0, 200.0)
    shifted = bounded + F64.round_to_integer
    r = bounded - (shifted - F64.round_to_integer)
    significand = fma(r, polynomial(r, F64.coefficients("exp2_short")), 1.0)
    return (significand * power_of_two(shifted.bits)).converted(F32)


def _in_two_parts(x: Real, y: Real) -> Real:
    """For f64: every step as a sum of a number and a much smaller one."""
    parts = split(x)
    head, tail = _natural(parts.m - 1.0)
    factor, rest = x.format.parts("log2_e")
    scaled_head, error = two_product(head, factor)
    scaled_tail = error + fma(tail, factor, head * rest)
    total, error = two_sum(parts.k, scaled_head)
    total, error = two_sum(total, error + scaled_tail)
    total = _logarithm(x, total)
    exponent, rounding = two_product(y, total)
    rounding = fma(y, error, rounding)
    # An infinite exponent has no rounding error.
    rounding = where(abs(exponent) < 2000.0, rounding, 0.0)
    return _exp2_of_sum(exponent, rounding)


def _natural(f: Real) -> tuple[Real, Real]:
    """`log(1 + f) = s (2 + z (2 / 3 + z p(z)))` with `s = f / (2 + f)` and `z = s^2`."""
    divisor = f + 2.0
    divisor_tail = f - (divisor - 2.0)
    reciprocal = 1.0 / divisor
    s = f * reciprocal
    s_tail = fma(-s, divisor_tail, fma(-s, divisor, f)) * reciprocal
    z, z_tail = two_product(s, s)
    z_tail = fma(2.0 * s, s_tail, z_tail)
    third, third_rest = f.format.parts("two_thirds")
    fifth, *others = f.format.coefficients("log_tail")
    series = polynomial(z, others)
    d = fma(z, series, fifth)
    d_tail = fma(z, series, fifth - d)
    product, product_tail = two_product(z, d)
    c, c_tail = two_sum(f.constant(third), product)
    c_tail = c_tail + (fma(z, d_tail, product_tail) + third_rest)
    w, w_tail = two_product(z, c)
    w_tail = fma(z_tail, c, fma(z, c_tail, w_tail))
    v, v_tail = two_sum(f.constant(2.0), w)
    v_tail = v_tail + w_tail
    head, tail = two_product(s, v)
    return head, fma(s_tail, v, fma(s, v_tail, tail))


def _exp2_of_sum(x: Real, small: Real) -> Real:
    """`2^(x + small)`, as exp of the product with ln 2."""
    bounded = x.clamped(-1080.0, 1025.0)
    shifted = bounded + x.format.round_to_integer
    ln2, rest = x.format.parts("ln2")
    r, r_tail = two_sum(bounded - (shifted - x.format.round_to_integer), small)
    t, t_tail = two_product(r, ln2)
    t_tail = fma(r_tail, ln2, fma(r, rest, t_tail))
    tail = fma(t * t, precise_polynomial(t, x.format.coefficients("exp")), t_tail)
    head, error = two_sum(x.constant(1.0), t)
    return scaled(head + (error + tail), shifted.bits, bounded)
