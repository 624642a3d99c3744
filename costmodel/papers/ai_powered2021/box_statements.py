"""Statements whose domains, accesses and loops are boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import islpy as isl
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineSymExpr

from ....passes.polyhedral.counting import fix_parameters
from ....passes.polyhedral.linear_terms import linear_terms
from ....passes.polyhedral.scop import Access, Scop
from .boxes import Box


class NotABoxError(Exception):
    """A set that is no box, and needs isl."""


@dataclass(frozen=True)
class Digit:
    """A loop's value: `floor((x + shift) / size)`, with x the iterator number `iterator`."""

    iterator: int
    size: int
    shift: int

    def of(self, value: int) -> int:
        """The loop's value for a value of the iterator."""
        return (value + self.shift) // self.size

    def first(self, value: int) -> int:
        """The first value of the iterator with a value of the loop."""
        return value * self.size - self.shift


Subscript = tuple[tuple[int, int], ...]
"""The iterators of a subscript with their factors; then its constant, for iterator -1."""


@dataclass(frozen=True)
class BoxStatement:
    """A statement at given sizes: the box of its instances, and the subscripts of each access."""

    domain: Box
    subscripts: Mapping[int, tuple[Subscript, ...]]
    accesses: tuple[Access, ...]


def box_statement(
    scop: Scop, name: str, sizes: Mapping[str, int], hull: bool
) -> BoxStatement | None:
    """A statement at given sizes, found out once; None where it does not run."""
    key = ("boxes", name, hull, tuple(sorted(sizes.items())))
    known = cast("dict[object, BoxStatement | None]", scop.memory.setdefault("boxes", {}))
    if key not in known:
        known[key] = _make_statement(scop, name, sizes, hull)
    return known[key]


def _make_statement(
    scop: Scop, name: str, sizes: Mapping[str, int], hull: bool
) -> BoxStatement | None:
    statement = scop.statement(name)
    points = fix_parameters(statement.domain, sizes)
    points = points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))
    if points.is_empty():
        return None
    if not hull and not points.is_box():
        raise NotABoxError
    domain = tuple(
        (points.dim_min_val(d).to_python(), points.dim_max_val(d).to_python())
        for d in range(len(statement.loops))
    )
    symbols = [sizes.get(parameter.name, 0) for parameter in scop.parameters]
    subscripts = {
        id(access): tuple(_subscript(result, symbols) for result in access.map.results)
        for access in statement.accesses
    }
    if not hull and not all(map(_keeps_boxes, subscripts.values())):
        raise NotABoxError
    return BoxStatement(domain, subscripts, statement.accesses)


def _keeps_boxes(subscripts: tuple[Subscript, ...]) -> bool:
    """Whether an access takes boxes to boxes: no gaps, no diagonals."""
    terms = [term for subscript in subscripts for term in subscript if term[0] >= 0]
    used = [iterator for iterator, _ in terms]
    return len(used) == len(set(used)) and all(abs(factor) == 1 for _, factor in terms)


def _subscript(result: AffineExpr, symbols: list[int]) -> Subscript:
    terms, constant = linear_terms(result)
    factors: dict[int, int] = {}
    for term, factor in terms.items():
        match term:
            case AffineDimExpr(position):
                factors[position] = factor
            case AffineSymExpr(position):
                constant += factor * symbols[position]
            case _:
                raise NotABoxError
    return (*sorted((p, factor) for p, factor in factors.items() if factor), (-1, constant))


_IN, _PARAM, _DIV = isl.dim_type.in_, isl.dim_type.param, isl.dim_type.div


def loop_digit(function: isl.Aff, sizes: Mapping[str, int]) -> Digit:
    """A loop's function of the iterators, if it is one iterator or a tile of it."""
    quotients = function.dim(_DIV)
    if quotients == 0:
        return _linear(function, 1, sizes)
    own = [function.get_coefficient_val(_IN, d).to_python() for d in range(function.dim(_IN))]
    own += [
        function.get_coefficient_val(_PARAM, d).to_python() for d in range(function.dim(_PARAM))
    ]
    is_quotient = quotients == 1 and function.get_coefficient_val(_DIV, 0).is_one()
    if not is_quotient or any(own) or not function.get_constant_val().is_zero():
        raise NotABoxError
    inner = function.get_div(0)
    size = inner.get_denominator_val().to_python()
    return _linear(inner.scale_val(isl.Val(str(size))), size, sizes)


def _linear(function: isl.Aff, size: int, sizes: Mapping[str, int]) -> Digit:
    """`floor(function / size)` for a function that grows like one iterator."""
    is_nested = any(
        not function.get_coefficient_val(_DIV, d).is_zero() for d in range(function.dim(_DIV))
    )
    if is_nested or not function.get_denominator_val().is_one():
        raise NotABoxError
    factors = {
        d: factor
        for d in range(function.dim(_IN))
        if (factor := function.get_coefficient_val(_IN, d).to_python())
    }
    if list(factors.values()) != [1]:
        raise NotABoxError
    shift = function.get_constant_val().to_python()
    for d in range(function.dim(_PARAM)):
        factor = function.get_coefficient_val(_PARAM, d).to_python()
        if factor:
            shift += factor * sizes.get(function.get_dim_name(_PARAM, d) or "", 0)
    return Digit(next(iter(factors)), size, shift)
