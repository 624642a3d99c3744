"""The error function.

`erf(x) = x + x p(x^2)` up to 7 / 8, and `1 - erfc(1) exp(-t p(t))` with t = |x| - 1 beyond.
"""

from __future__ import annotations

from .exponentials import exp_of_moderate
from .lanes import F32, Real, fma, polynomial, precise_polynomial, where


def erf(x: Real) -> Real:
    magnitude = abs(x)
    last = 3.94 if x.format is F32 else 5.95
    t = where(magnitude > last, last, magnitude) - 1.0
    decay = exp_of_moderate(-t * polynomial(t, x.format.coefficients("erfc")))
    (erfc_1,) = x.format.parts("erfc_1")
    large = fma(decay, -erfc_1, 1.0)
    z = x * x
    first, *others = x.format.coefficients("erf")
    small = fma(x, fma(z, precise_polynomial(z, others), first), x)
    return where(magnitude < 0.875, small, large.with_sign_of(x))
