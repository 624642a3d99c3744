"""Logarithms.

`x = 2^k m` with sqrt(1/2) <= m < sqrt(2), `f = m - 1`, `s = f / (2 + f)`, and
`log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + s^2 p(s^2))` as in fdlibm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .lanes import (
    INFINITY,
    Format,
    Real,
    any_two_sum,
    fma,
    polynomial,
    two_product,
    two_sum,
    where,
)

_SQRT_HALF = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}
"""The bits of the square root of one half."""


@dataclass(frozen=True)
class Split:
    """`x = 2^k m`; `unscale` is 2^(1 - k), or zero where that is too small."""

    k: Real
    m: Real
    unscale: Real


def log(x: Real) -> Real:
    parts = split(x)
    f = parts.m - 1.0
    s, square = f / (f + 2.0), 0.5 * f * f
    z = s * s
    factor, rest = x.format.parts("short_ln2")
    tail = fma(parts.k, rest, s * fma(z, polynomial(z, x.format.coefficients("log")), square))
    return _special(x, fma(parts.k, factor, f - (square - tail)))


def log2(x: Real) -> Real:
    parts = split(x)
    return _special(x, _in_base(parts.k, _log1p_parts(parts.m - 1.0), None, "log2_e"))


def log10(x: Real) -> Real:
    parts = split(x)
    natural = _log1p_parts(parts.m - 1.0)
    return _special(x, _in_base(parts.k, natural, "short_log10_2", "log10_e"))


def log1p(x: Real) -> Real:
    tiny = abs(x) < 2.0 ** -(x.format.fraction + 2)
    return where(tiny, x, log_of_sum(*any_two_sum(x, 1.0)))


def log_of_sum(total: Real, rest: Real, doublings: Real | None = None) -> Real:
    """`log(total + rest)` and so many times log(2)."""
    parts = split(total)
    # The sum / 2^k = 1 + f + correction, where the rest has not been forgotten.
    f, correction = two_sum(parts.m - 1.0, 0.5 * rest * parts.unscale)
    s = f / (f + 2.0)
    # 1 / (1 + f) = (1 - s) / (1 + s), nearly enough for what is so small.
    slope = fma(s, fma(s, 2.0, -2.0), 1.0)
    head, tail = _log1p_parts(f)
    natural = head, fma(correction, slope, tail)
    k = parts.k if doublings is None else parts.k + doublings
    return _special(total, _in_base(k, natural, "short_ln2", None))


def split(x: Real) -> Split:
    """Exponent and significand of a positive number."""
    form = x.format
    is_subnormal = x < 2.0 ** (1 - form.bias)
    lift = form.fraction + 2
    bits = where(is_subnormal, x * 2.0**lift, x).bits
    centred = bits - _SQRT_HALF[form.name] + form.one
    field = centred & (((1 << form.bits) - 1) ^ ((1 << form.fraction) - 1))
    k = ((centred >> form.fraction) | _first_integer(form)).real
    bias = 2.0**form.fraction + form.bias
    k = k - where(is_subnormal, k.constant(bias + lift), bias)
    return Split(
        k, (bits - field + form.one).real, (2 * form.one + (1 << form.fraction) - field).real
    )


def _first_integer(form: Format) -> int:
    """The bits of the power of two whose last place is 1."""
    return form.bias + form.fraction << form.fraction


def _log1p_parts(f: Real) -> tuple[Real, Real]:
    """`log(1 + f)` as a sum of a number and a smaller one."""
    s = f / (f + 2.0)
    z = s * s
    half = 0.5 * f
    square, error = two_product(half, f)
    head = f - square
    rest = ((f - head) - square) - error
    return head, fma(s, fma(z, polynomial(z, f.format.coefficients("log")), square), rest)


def _in_base(k: Real, natural: tuple[Real, Real], of_two: str | None, of_e: str | None) -> Real:
    """`k log 2 + log m` in a base, by what the logarithms of 2 and e in it are (None: 1)."""
    head, tail = natural
    if of_e is not None:
        factor, rest = k.format.parts(of_e)
        natural_head = head
        head, error = two_product(natural_head, factor)
        tail = error + fma(tail, factor, natural_head * rest)
    if of_two is None:
        whole = k
    else:
        factor, rest = k.format.parts(of_two)
        whole, tail = k * factor, fma(k, rest, tail)
    total, error = two_sum(whole, head)
    return total + (error + tail)


def _special(x: Real, result: Real) -> Real:
    """The logarithms of infinity, zero and negative numbers."""
    of_others = where(x.equals(0.0), -INFINITY, x.constant(math.nan))
    return where(x > 0.0, where(x < INFINITY, result, x), of_others)
