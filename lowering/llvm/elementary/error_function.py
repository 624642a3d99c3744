"""The error function and its complement.

`erf(x) = x + x p(x^2)` up to 7 / 8, and `1 - erfc(1) exp(-t p(t))` with t = |x| - 1 beyond.

`erfc(x) = exp(-x^2) (c + q p(q)) / (1 + x)` with q = (x - 3) / (x + 3) and x >= 0, as Shepherd
and Laframboise do with 1 + 2 x (Math. Comp. 36, 1981); the quotient is flatter here.
"""

from __future__ import annotations

from .exponentials import exp_of_moderate, exp_of_sum, quotient, scaled
from .lanes import (
    F32,
    Real,
    any_two_sum,
    fma,
    polynomial,
    precise_polynomial,
    two_product,
    two_sum,
    where,
)


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


def erfc(x: Real) -> Real:
    magnitude = abs(x)
    last = 10.2 if x.format is F32 else 27.5
    magnitude = where(magnitude > last, last, magnitude)
    square, rounding = two_product(magnitude, magnitude)
    shifted, (head, tail) = exp_of_sum(-square, -rounding)
    factor, factor_tail = _scaled_erfcx(magnitude)
    product, product_tail = two_product(head, factor)
    product_tail = product_tail + fma(head, factor_tail, tail * factor)
    divisor = any_two_sum(magnitude, 1.0)
    positive = scaled(quotient((product, product_tail), divisor), shifted, -square)
    return where(x < 0.0, 2.0 - positive, positive)


def _scaled_erfcx(x: Real) -> tuple[Real, Real]:
    """`(1 + x) exp(x^2) erfc(x)` as a sum of a number and a smaller one."""
    divisor, lost = any_two_sum(x, 3.0)
    reciprocal = 1.0 / divisor
    share = x * reciprocal
    rest = fma(-share, lost, fma(-share, divisor, x)) * reciprocal
    # (x - 3) / (x + 3) = 2 x / (x + 3) - 1
    q, error = two_sum(x.constant(-1.0), 2.0 * share)
    q_tail = fma(rest, 2.0, error)
    first, *others = x.format.coefficients("erfcx")
    slope, slope_tail = two_sum(x.constant(first), q * polynomial(q, others))
    product, product_tail = two_product(q, slope)
    centre, centre_tail = x.format.parts("erfcx_3")
    head, tail = two_sum(x.constant(centre), product)
    # The derivative is between -0.32 and -0.11.
    small = fma(q, slope_tail, fma(q_tail, -0.1875, product_tail + centre_tail))
    return head, tail + small
