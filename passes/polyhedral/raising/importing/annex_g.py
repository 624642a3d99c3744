"""Products and quotients of complex numbers whose infinities are recovered from NaN (Annex G of C).

Compilers call a function where both parts are NaN; here its result is chosen, which the lowering
makes a branch of (`rare_selections`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from .complex_arithmetic import Emission, Pair, quotient


def _any(emit: Emission, tests: Sequence[SSAValue]) -> SSAValue:
    found, *others = tests
    for each in others:
        found = emit.logic(arith.OrIOp, (found, each))
    return found


def _both(emit: Emission, one: SSAValue, other: SSAValue) -> SSAValue:
    return emit.logic(arith.AndIOp, (one, other))


def _are_nan(emit: Emission, value: Pair) -> SSAValue:
    return _both(emit, *(emit.test("uno", part, part) for part in value))


def _is_infinite(emit: Emission, parts: Sequence[SSAValue]) -> SSAValue:
    """Whether a part is infinite."""
    infinity = emit.constant(float("inf"))
    return _any(emit, [emit.test("oeq", emit.function(math.AbsFOp, e), infinity) for e in parts])


def _is_finite(emit: Emission, value: Pair) -> SSAValue:
    """Whether both parts are finite."""
    infinity = emit.constant(float("inf"))
    return _both(
        emit, *(emit.test("olt", emit.function(math.AbsFOp, part), infinity) for part in value)
    )


def _directed(emit: Emission, value: Pair, is_infinite: SSAValue) -> Pair:
    """The direction of an infinite number, in parts of 0, 1 and -1; of others, without NaN."""
    zero, one = emit.constant(0.0), emit.constant(1.0)

    def part(number: SSAValue) -> SSAValue:
        unit = emit.function(math.CopySignOp, one, number)
        known = emit.choose(emit.test("uno", number, number), zero, number)
        direction = emit.choose(_is_infinite(emit, [number]), unit, zero)
        return emit.choose(is_infinite, direction, known)

    return part(value[0]), part(value[1])


def _chosen(emit: Emission, truth: SSAValue, one: Pair, other: Pair) -> Pair:
    return emit.choose(truth, one[0], other[0]), emit.choose(truth, one[1], other[1])


def _scaled(emit: Emission, scale: SSAValue, value: Pair) -> Pair:
    return emit.multiply(scale, value[0]), emit.multiply(scale, value[1])


def _product(emit: Emission, one: Pair, other: Pair) -> Pair:
    """Where both parts are NaN, and one of the four products is infinite: so is the result.

    A number with an infinite part, whose products are none, gives NaN either way.
    """
    (a, b), (c, d) = one, other
    products = [emit.multiply(*pair) for pair in ((a, c), (b, d), (a, d), (b, c))]
    plain = emit.subtract(products[0], products[1]), emit.add(products[2], products[3])
    (a, b), (c, d) = (_directed(emit, each, _is_infinite(emit, each)) for each in (one, other))
    real = emit.subtract(emit.multiply(a, c), emit.multiply(b, d))
    imaginary = emit.add(emit.multiply(a, d), emit.multiply(b, c))
    recovered = _scaled(emit, emit.constant(float("inf")), (real, imaginary))
    is_lost = _both(emit, _are_nan(emit, plain), _is_infinite(emit, products))
    return _chosen(emit, is_lost, recovered, plain)


def _conjugate_product(emit: Emission, one: Pair, other: Pair) -> Pair:
    """(a + bi) (c - di)."""
    (a, b), (c, d) = one, other
    real = emit.add(emit.multiply(a, c), emit.multiply(b, d))
    return real, emit.subtract(emit.multiply(b, c), emit.multiply(a, d))


def _quotient(emit: Emission, one: Pair, other: Pair) -> Pair:
    """Infinite for a divisor of zero or an infinite dividend, zero for an infinite divisor."""
    zero, infinity = emit.constant(0.0), emit.constant(float("inf"))
    plain = quotient(emit, one, other)
    tests = [_is_infinite(emit, each) for each in (one, other)]
    are_finite = [_is_finite(emit, each) for each in (one, other)]
    directed = [_directed(emit, *each) for each in zip((one, other), tests, strict=True)]
    large = _scaled(emit, infinity, _conjugate_product(emit, directed[0], other))
    small = _scaled(emit, zero, _conjugate_product(emit, one, directed[1]))
    are_nan = _are_nan(emit, plain)
    found = _chosen(emit, _both(emit, are_nan, _both(emit, tests[0], are_finite[1])), large, plain)
    found = _chosen(emit, _both(emit, are_nan, _both(emit, tests[1], are_finite[0])), small, found)
    is_zero = _both(emit, *(emit.test("oeq", part, zero) for part in other))
    signed = emit.function(math.CopySignOp, infinity, other[0])
    return _chosen(emit, is_zero, _scaled(emit, signed, one), found)


FULL_RANGE_PAIRS: Mapping[str, Callable[..., Pair]] = {
    "complex.div": _quotient,
    "complex.mul": _product,
}
"""Operations that give a complex number, as functions of an Emission and the parts of operands."""
