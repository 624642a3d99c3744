"""Cardinality of sets and operation counts of programs, in closed form.

A set is taken apart into pieces `{ x : L <= x <= U }` along its innermost dimension, with affine
bounds L and U; the polynomial that counts the points inside is summed symbolically (Faulhaber), and
so on outwards. So the cost does not depend on the size of the set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb, prod
from typing import TypeVar

import islpy as isl
from xdsl.dialects import arith, math
from xdsl.ir import Operation

from .limited_iterators import involves
from .scop import Scop

_Points = TypeVar("_Points", isl.Set, isl.Map)

Polynomial = dict[tuple[int, ...], Fraction]
"""Coefficients by exponents, one per variable: `2 + 3xy` is `{(0, 0): 2, (1, 1): 3}`."""

FLOATING_POINT_OPERATIONS: Mapping[type[Operation], int] = {
    arith.AddfOp: 1,
    arith.SubfOp: 1,
    arith.MulfOp: 1,
    arith.DivfOp: 1,
    arith.NegfOp: 1,
    arith.MaximumfOp: 1,
    arith.MinimumfOp: 1,
    arith.MaxnumfOp: 1,
    arith.MinnumfOp: 1,
    math.FmaOp: 2,
    math.SqrtOp: 1,
    math.ExpOp: 1,
    math.PowFOp: 1,
}
"""What counts as floating-point work, and how much."""


_PRODUCTS = (arith.MulfOp, arith.DivfOp, math.FmaOp)
"""Divisions by what does not change are products as well."""


class UncountableError(Exception):
    """An unbounded set, or one with gaps that have no closed form here."""


def floating_point_operations(scop: Scop, sizes: Mapping[str, int]) -> int:
    """How many floating-point operations the program executes; raises UncountableError."""
    total = 0
    for statement in scop.statements:
        work = sum(FLOATING_POINT_OPERATIONS.get(type(op), 0) for op in statement.body)
        if work:
            total += work * cardinality(fix_parameters(statement.domain, sizes))
    return total


def has_products(scop: Scop) -> bool:
    """Whether there are floating-point products, which additions may be fused with."""
    return any(isinstance(op, _PRODUCTS) for each in scop.statements for op in each.body)


def fix_parameters(points: _Points, sizes: Mapping[str, int]) -> _Points:
    """The set or map for given values of parameters, without these parameters."""
    for name, value in sizes.items():
        position = points.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            points = points.fix_val(isl.dim_type.param, position, isl.Val(str(value)))
            points = points.project_out(isl.dim_type.param, position, 1)
    return points


def cardinality(points: isl.Set) -> int:
    """The number of points of a set without parameters; raises UncountableError."""
    if points.is_box() and not points.is_empty():
        return prod(_lengths(points))
    factors = list(_factors(points))
    if len(factors) > 1:
        return prod(map(cardinality, factors))
    return int(sum((_count(part) for part in _disjoint(points.compute_divs())), Fraction(0)))


def _factors(points: isl.Set) -> Iterator[isl.Set]:
    """Sets of which the points are all combinations: dimensions without common conditions."""
    if points.n_basic_set() != 1 or points.is_empty():
        return
    basic = points.get_basic_set_list().get_at(0)
    if basic.dim(isl.dim_type.div):
        return
    depth = points.dim(isl.dim_type.set)
    groups = [{position} for position in range(depth)]
    for constraint in basic.get_constraints():
        together = [g for g in groups if any(involves(constraint, k) for k in g)]
        groups = [g for g in groups if g not in together] + [set[int]().union(*together)]
    for group in groups:
        factor = points
        for position in reversed(range(depth)):
            if position not in group:
                factor = factor.project_out(isl.dim_type.set, position, 1)
        if group:
            yield factor


def _lengths(box: isl.Set) -> Iterator[int]:
    """How many values each dimension of a box has that is not empty; raises UncountableError."""
    for position in range(box.dim(isl.dim_type.set)):
        low, high = box.dim_min_val(position), box.dim_max_val(position)
        if not low.is_int() or not high.is_int():
            raise UncountableError(f"{box} has no bounds")
        yield high.to_python() - low.to_python() + 1


def _count(part: isl.Set) -> Fraction:
    """The points of a set of one piece. Quotients are counted along, outermost, where they help."""
    try:
        return _ones(part)
    except UncountableError:
        depth = part.dim(isl.dim_type.set)
        lifted = isl.Set.from_basic_set(part.get_basic_set_list().get_at(0).lift().flatten())
        quotients = lifted.dim(isl.dim_type.set) - depth
        if not quotients:
            raise
        points = isl.Map.from_range(lifted)
        points = points.move_dims(isl.dim_type.in_, 0, isl.dim_type.out, depth, quotients)
        return sum(map(_ones, _disjoint(points.wrap().flatten())), Fraction(0))


def _ones(points: isl.Set) -> Fraction:
    return _weigh(points, {(0,) * points.dim(isl.dim_type.set): Fraction(1)})


def _weigh(points: isl.Set, weight: Polynomial) -> Fraction:
    """The sum of `weight` over all points of a set."""
    depth = points.dim(isl.dim_type.set)
    if points.is_empty():
        return Fraction(0)
    if depth == 0:
        return weight[()]
    inner = points.reset_tuple_id()
    for position in range(depth):  # isl cannot align parameters without names
        inner = inner.set_dim_name(isl.dim_type.set, position, f"x{position}")
    inner = inner.move_dims(isl.dim_type.param, 0, isl.dim_type.set, 0, depth - 1)
    if not _is_bounded(inner) or not _is_interval(inner):
        raise UncountableError(f"{points} has no bounds, or has gaps")
    total = Fraction(0)
    for low_domain, low in _pieces(inner.dim_min(0), depth - 1):
        for high_domain, high in _pieces(inner.dim_max(0), depth - 1):
            outer = low_domain.intersect(high_domain).from_params()
            outer = outer.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, depth - 1)
            for part in _disjoint(outer):
                total += _weigh(part, _integral(weight, low, high))
    return total


def _disjoint(points: isl.Set) -> list[isl.Set]:
    # Not `foreach`: what a callback raises, such as that isl may do no more, is printed and lost.
    parts = points.make_disjoint().get_basic_set_list()
    return [isl.Set.from_basic_set(parts.get_at(n)) for n in range(parts.n_basic_set())]


def _is_bounded(inner: isl.Set) -> bool:
    return inner.dim_has_any_lower_bound(isl.dim_type.set, 0) and inner.dim_has_any_upper_bound(
        isl.dim_type.set, 0
    )


def _is_interval(inner: isl.Set) -> bool:
    """Whether a one-dimensional set has all integers between its minimum and its maximum."""
    above = inner.apply(isl.Map("{ [x] -> [y] : y >= x }"))
    below = inner.apply(isl.Map("{ [x] -> [y] : y <= x }"))
    return above.intersect(below).is_subset(inner)


def _pieces(bound: isl.PwAff, variables: int) -> list[tuple[isl.Set, Polynomial]]:
    """The pieces of an affine bound: where it holds, and its value in the parameters."""
    pieces: list[tuple[isl.Set, isl.Aff]] = []
    bound.foreach_piece(lambda domain, value: pieces.append((domain, value)))
    return [(domain, _polynomial(value, variables)) for domain, value in pieces]


def _polynomial(value: isl.Aff, variables: int) -> Polynomial:
    if value.dim(isl.dim_type.div) or value.get_denominator_val() != isl.Val(1):
        raise UncountableError(f"the bound {value} rounds")
    polynomial = {(0,) * variables: Fraction(value.get_constant_val().to_python())}
    for position in range(variables):
        factor = value.get_coefficient_val(isl.dim_type.param, position).to_python()
        polynomial[_unit(position, variables)] = Fraction(factor)
    return polynomial


def _unit(position: int, variables: int) -> tuple[int, ...]:
    return tuple(int(other == position) for other in range(variables))


def _integral(weight: Polynomial, low: Polynomial, high: Polynomial) -> Polynomial:
    """The sum of `weight` over its last variable from `low` to `high`, both included."""
    below = _sum(low, {exponents: Fraction(-1) for exponents in low if not any(exponents)})
    result: Polynomial = {}
    for exponents, factor in weight.items():
        powers = _power_sum(exponents[-1])
        rest: Polynomial = {exponents[:-1]: factor}
        difference = _sum(_substitute(powers, high), _scale(_substitute(powers, below), -1))
        result = _sum(result, _product(rest, difference))
    return result


@cache
def _power_sum(exponent: int) -> tuple[Fraction, ...]:
    """Coefficients of the polynomial `n -> 1^e + 2^e + ... + n^e`, constant term first.

    It is right for negative n as well, in the sense that the sum from L to U is P(U) - P(L - 1).
    """
    coefficients = [Fraction(0)] * (exponent + 2)
    for index in range(exponent + 1):
        bernoulli = _bernoulli(index)
        coefficients[exponent + 1 - index] = comb(exponent + 1, index) * bernoulli / (exponent + 1)
    return tuple(coefficients)


@cache
def _bernoulli(index: int) -> Fraction:
    """The Bernoulli numbers with B1 = +1/2."""
    return 1 - sum(
        (comb(index, k) * _bernoulli(k) / (index - k + 1) for k in range(index)), Fraction(0)
    )


def _substitute(coefficients: Sequence[Fraction], value: Polynomial) -> Polynomial:
    variables = len(next(iter(value)))
    result: Polynomial = {(0,) * variables: Fraction(0)}
    for coefficient in reversed(coefficients):
        result = _sum(_product(result, value), {(0,) * variables: coefficient})
    return result


def _sum(left: Polynomial, right: Polynomial) -> Polynomial:
    result = dict(left)
    for exponents, factor in right.items():
        result[exponents] = result.get(exponents, Fraction(0)) + factor
    return result


def _scale(polynomial: Polynomial, factor: int) -> Polynomial:
    return {exponents: factor * value for exponents, value in polynomial.items()}


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for one, factor in left.items():
        for other, value in right.items():
            exponents = tuple(a + b for a, b in zip(one, other, strict=True))
            result[exponents] = result.get(exponents, Fraction(0)) + factor * value
    return {exponents: value for exponents, value in result.items() if value}


def has_at_most(points: isl.Set, most: int) -> bool:
    """Whether a set without parameters has no more points; finds some, instead of counting all."""
    for _ in range(most):
        if points.is_empty():
            return True
        points = points.subtract(isl.Set.from_point(points.sample_point()))
    return bool(points.is_empty())


def ends_agree(one: isl.Set, other: isl.Set, most: float) -> bool:
    """Whether two sets have the same last values wherever both have some; or nearly everywhere.

    That is but for this part of what comes before these values.
    """
    last = one.dim(isl.dim_type.set) - 1

    def outer(points: isl.Set) -> isl.Set:
        return points.project_out(isl.dim_type.set, last, 1)

    def where_both(part: isl.Set, rest: isl.Set) -> isl.Set:
        return part.intersect(outer(rest).add_dims(isl.dim_type.set, 1))

    first, second = where_both(one, other), where_both(other, one)
    if first.is_equal(second):
        return True
    if not most:
        return False
    differing = outer(first.subtract(second)).union(outer(second.subtract(first)))
    try:
        return cardinality(differing) <= most * cardinality(outer(one).union(outer(other)))
    except UncountableError:
        return False
