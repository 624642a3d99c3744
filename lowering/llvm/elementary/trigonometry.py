"""Sine, cosine and tangent.

`x = n pi / 2 + r` with |r| <= pi / 4 and pi / 2 in three parts, where x is not too large. Arguments
beyond that, which are rare, go to the C library one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from ..types import I32
from .exponentials import quotient
from .lanes import (
    F32,
    F64,
    INFINITY,
    Bits,
    Mask,
    Real,
    fma,
    polynomial,
    two_product,
    two_sum,
    type_suffix,
    where,
)


def sin(x: Real) -> Real:
    return where(x.equals(0.0), x, _with_library(x, "sin", 0))


def cos(x: Real) -> Real:
    return _with_library(x, "cos", 1)


def tan(x: Real) -> Real:
    fast = _tangent(x)
    return where(x.equals(0.0), x, _replaced(fast, _is_large(x), x, "tan"))


@dataclass(frozen=True)
class _Reduced:
    """`x = n pi / 2 + r + tail`; the lowest bits of `shifted` are those of n."""

    shifted: Bits
    r: Real
    tail: Real


def _with_library(x: Real, name: str, quarters: int) -> Real:
    """The sine of x and so many quarter turns."""
    return _replaced(_of_moderate(x, quarters), _is_large(x), x, name)


def _is_large(x: Real) -> Mask:
    largest = 2.0**15 if x.format is F32 else 2.0**29
    return (abs(x) > largest) & (abs(x) < INFINITY)


def _of_moderate(x: Real, quarters: int) -> Real:
    reduced = _reduce(x)
    r, tail, form = reduced.r, reduced.tail, x.format
    z = r * r
    half = 0.5 * z
    sine = r + fma(r * z, polynomial(z, form.coefficients("sin")), fma(-half, tail, tail))
    most = 1.0 - half
    rest = fma(z * z, polynomial(z, form.coefficients("cos")), ((1.0 - most) - half) - r * tail)
    quadrant = reduced.shifted + quarters
    chosen = where(quadrant.has(0), most + rest, sine)
    sign = (quadrant << form.bits - 2) & (1 << form.bits - 1)
    return (chosen.bits ^ sign).real


def _tangent(x: Real) -> Real:
    """`sin(r) / cos(r)`, or `-cos(r) / sin(r)` after an odd number of quarter turns."""
    reduced = _reduce(x)
    r, tail, form = reduced.r, reduced.tail, x.format
    z = r * r
    half, rounding = two_product(0.5 * r, r)
    sine = two_sum(r, fma(r * z, polynomial(z, form.coefficients("sin")), tail - half * tail))
    most, lost = two_sum(x.constant(1.0), -half)
    rest = fma(z * z, polynomial(z, form.coefficients("cos")), lost - fma(r, tail, rounding))
    cosine = two_sum(most, rest)
    is_odd = reduced.shifted.has(0)
    dividend = where(is_odd, -cosine[0], sine[0]), where(is_odd, -cosine[1], sine[1])
    divisor = where(is_odd, sine[0], cosine[0]), where(is_odd, sine[1], cosine[1])
    return quotient(dividend, divisor)


def _reduce(x: Real) -> _Reduced:
    first, second, third = x.format.parts("half_pi")
    magic = x.format.round_to_integer
    shifted = fma(x, 1.0 / (first + second), magic)
    n = shifted - magic
    # Exact: multiples of the last place of pi / 2, and less than one.
    high = fma(n, -first, x)
    product, error = two_product(n, second)
    r = high - product
    tail = ((high - r) - product) - fma(n, third, error)
    return _Reduced(shifted.bits, r, tail)


def _replaced(fast: Real, is_large: Mask, x: Real, name: str) -> Real:
    """The results of the C library in lanes with large arguments."""
    place, builder = fast.place, fast.place.builder
    before = builder.block
    library = builder.append_basic_block("library")
    after = builder.append_basic_block("after")
    builder.cbranch(is_large.holds_anywhere(), library, after)

    builder.position_at_end(library)
    slow = builder.call(_library_function(x, name), [x.value])
    slow = builder.select(is_large.value, slow, fast.value)
    end = builder.block
    builder.branch(after)

    builder.position_at_end(after)
    merged = builder.phi(fast.value.type)
    merged.add_incoming(fast.value, before)
    merged.add_incoming(slow, end)
    return Real(place, fast.format, merged)


def _library_function(x: Real, name: str) -> ir.Function:
    """The module's function that calls the C library for each lane, with doubles; rarely called."""
    module, kind, lanes = x.place.module, x.value.type, x.place.lanes
    symbol = f"elementary.library.{name}.{type_suffix(x.format, lanes)}"
    existing = module.module.globals.get(symbol)
    if isinstance(existing, ir.Function):
        return existing
    double = F64.scalar
    called = module.declare(name, ir.FunctionType(double, [double]), ("memory(none)", "willreturn"))
    function = module.define(symbol, ir.FunctionType(kind, [kind]), public=False)
    set[str].update(function.attributes, ("noinline", "cold", "memory(none)", "willreturn"))
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    (argument,) = function.args

    def call(number: ir.Value) -> ir.Value:
        if x.format is F64:
            return builder.call(called, [number])
        result = builder.call(called, [builder.fpext(number, double)])
        return builder.fptrunc(result, x.format.scalar)

    if not lanes:
        builder.ret(call(argument))
        return function
    results: ir.Value = ir.Constant(kind, ir.Undefined)
    for lane in range(lanes):
        position = ir.Constant(I32, lane)
        result = call(builder.extract_element(argument, position))
        results = builder.insert_element(results, result, position)
    builder.ret(results)
    return function
