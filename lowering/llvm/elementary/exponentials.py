"""Exponentials and hyperbolic functions.

`x = n ln 2 + r` with an integer n and |r| <= ln(2) / 2, and exp(x) = 2^n exp(r) (Cody and Waite,
"Software Manual for the Elementary Functions", 1980, chapter 6).
"""

from __future__ import annotations

from dataclasses import dataclass

from .lanes import F32, Bits, Real, fma, polynomial, precise_polynomial, two_product, two_sum, where


@dataclass(frozen=True)
class _Reduced:
    """`x = n ln 2 + r + tail`; the lowest bits of `shifted` are those of n."""

    shifted: Bits
    r: Real
    tail: Real


def exp(x: Real) -> Real:
    low, high = (-104.0, 89.0) if x.format is F32 else (-746.0, 710.0)
    reduced = _reduce(x.clamped(low, high))
    return scaled(_of_remainder(reduced.r), reduced.shifted, x)


def exp2(x: Real) -> Real:
    low, high = (-152.0, 129.0) if x.format is F32 else (-1080.0, 1025.0)
    bounded = x.clamped(low, high)
    shifted = bounded + x.format.round_to_integer
    r = bounded - (shifted - x.format.round_to_integer)
    return scaled(
        fma(r, precise_polynomial(r, x.format.coefficients("exp2")), 1.0), shifted.bits, x
    )


def exp10(x: Real) -> Real:
    low, high = (-46.0, 39.0) if x.format is F32 else (-325.0, 309.0)
    bounded = x.clamped(low, high)
    magic, (log2_10, _) = x.format.round_to_integer, x.format.parts("log2_10")
    shifted = fma(bounded, log2_10, magic)
    n = shifted - magic
    log10_2, rest = x.format.parts("log10_2")
    first = fma(n, -log10_2, bounded)
    r = fma(n, -rest, first)
    tail = fma(n, -rest, first - r)
    factor, *others = x.format.coefficients("exp10")
    head, error = two_product(r, factor)
    small = fma(r * r, polynomial(r, others), fma(tail, factor, error))
    total, error = two_sum(x.constant(1.0), head)
    return scaled(total + (error + small), shifted.bits, x)


def expm1(x: Real) -> Real:
    low, high = (-20.0, 89.0) if x.format is F32 else (-50.0, 710.0)
    # Half of it, since 2^n of the largest results has no representation.
    head, tail = expm1_parts(x.clamped(low, high), exponent=-1)
    result = 2.0 * (head + tail)
    return where(abs(x) < 2.0 ** -(x.format.fraction + 2), x, result)


def tanh(x: Real) -> Real:
    """`E / (E + 2)` with `E = expm1(2 |x|)`."""
    magnitude = where(abs(x) > 20.0, 20.0, abs(x))
    head, tail = expm1_parts(2.0 * magnitude)
    divisor, error = two_sum(where(head > 2.0, head, 2.0), where(head > 2.0, 2.0, head))
    return quotient((head, tail), (divisor, error + tail)).with_sign_of(x)


def sinh(x: Real) -> Real:
    """`(E + E / (E + 1)) / 2` with `E = expm1(|x|)`."""
    head, tail = expm1_parts(_bounded(x), exponent=-2)
    divisor, error = _plus_quarter(head)
    reciprocal = 1.0 / divisor
    share = head * reciprocal
    rest = fma(-share, divisor, head) + fma(-share, error + tail, tail)
    total, small = two_sum(head, 0.25 * share)
    result = 2.0 * (total + (small + fma(0.25 * rest, reciprocal, tail)))
    tiny = abs(x) < 2.0 ** -(x.format.fraction // 2 + 2)
    return where(tiny, x, result.with_sign_of(x))


def cosh(x: Real) -> Real:
    """`(exp(|x|) + 1 / exp(|x|)) / 2`."""
    head, tail = expm1_parts(_bounded(x), exponent=-2)
    quarter, error = _plus_quarter(head)
    error = error + tail
    inverse = 0.0625 / quarter
    return 2.0 * (quarter + fma(-16.0 * error * inverse, inverse, inverse + error))


def _bounded(x: Real) -> Real:
    high = 89.5 if x.format is F32 else 710.5
    return where(abs(x) > high, high, abs(x))


def _plus_quarter(head: Real) -> tuple[Real, Real]:
    """`head + 1 / 4`, with the error, for what is not negative."""
    is_large = head > 0.25
    return two_sum(where(is_large, head, 0.25), where(is_large, 0.25, head))


def quotient(dividend: tuple[Real, Real], divisor: tuple[Real, Real]) -> Real:
    """The quotient of two unevaluated sums of a number and a much smaller one."""
    reciprocal = 1.0 / divisor[0]
    approximate = dividend[0] * reciprocal
    rest = fma(-approximate, divisor[0], dividend[0]) + fma(-approximate, divisor[1], dividend[1])
    return fma(rest, reciprocal, approximate)


def expm1_parts(x: Real, exponent: int = 0) -> tuple[Real, Real]:
    """`2^exponent expm1(x)` as a number and its rounding error, where 2^n has a representation."""
    reduced = _reduce(x)
    r = reduced.r
    tail = fma(
        r * r, precise_polynomial(r, x.format.coefficients("exp")), reduced.tail + r * reduced.tail
    )
    scale = power_of_two(reduced.shifted, exponent)
    less = scale - 2.0**exponent
    lost = (scale - less) - 2.0**exponent
    head, error = two_sum(less, scale * r)
    return two_sum(head, fma(scale, tail, error + lost))


def exp_of_moderate(x: Real) -> Real:
    """exp where neither overflow nor underflow can be."""
    reduced = _reduce(x)
    return _of_remainder(reduced.r) * power_of_two(reduced.shifted)


def exp_of_sum(x: Real, small: Real) -> tuple[Bits, tuple[Real, Real]]:
    """`exp(x + small) / 2^n` as a sum of a number and a smaller one; n are the lowest bits."""
    reduced = _reduce(x)
    rest = reduced.tail + small
    r, tail = two_sum(reduced.r, rest)
    tail = fma(r, tail, tail)
    tail = fma(r * r, precise_polynomial(r, x.format.coefficients("exp")), tail)
    head, error = two_sum(x.constant(1.0), r)
    return reduced.shifted, two_sum(head, error + tail)


def _of_remainder(r: Real) -> Real:
    return fma(r * r, precise_polynomial(r, r.format.coefficients("exp")), r) + 1.0


def _reduce(x: Real) -> _Reduced:
    ln2, rest = x.format.parts("ln2")
    (log2_e, _), magic = x.format.parts("log2_e"), x.format.round_to_integer
    shifted = fma(x, log2_e, magic)
    n = shifted - magic
    # Exact: multiples of the last place of ln 2, and less than one half.
    first = fma(n, -ln2, x)
    r = fma(n, -rest, first)
    return _Reduced(shifted.bits, r, fma(n, -rest, first - r))


def power_of_two(shifted: Bits, exponent: int = 0) -> Real:
    """`2^(n + exponent)` in the range of normal numbers; n are the lowest bits of `shifted`."""
    form = shifted.format
    return ((shifted << form.fraction) + (form.bias + exponent << form.fraction)).real


def scaled(x: Real, shifted: Bits, sign: Real) -> Real:
    """`x 2^n`, rounded once, for n from beyond the smallest to beyond the largest exponent.

    `sign` has that of n, where n is large. In two steps, the first of which is exact.
    """
    form = x.format
    step = 30 if form is F32 else 100
    is_small = sign < 0.0
    first = where(is_small, 2.0**step, x.constant(2.0**-step))
    second = where(is_small, 2.0**-step, x.constant(2.0**step))
    scale = ((shifted << form.fraction) + first.bits).real
    return x * scale * second
