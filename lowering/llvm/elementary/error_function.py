"""The error function: a polynomial up to 1, `1 - exp(-p(|x| - 1))` beyond."""

from __future__ import annotations

from .exponentials import exp_of_moderate
from .lanes import F32, Real, fma, horner, where


def erf(x: Real) -> Real:
    magnitude = abs(x)
    last = 3.94 if x.format is F32 else 5.95
    beyond = where(magnitude > last, last, magnitude) - 1.0
    large = 1.0 - exp_of_moderate(-horner(beyond, x.format.coefficients("erfc")))
    small = fma(x, horner(x * x, x.format.coefficients("erf")), x)
    return where(magnitude < 1.0, small, large.with_sign_of(x))
