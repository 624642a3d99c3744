"""Subscripts with quotients and remainders: the blocks of a loop within which they are affine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from math import gcd, lcm

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from .linear_terms import linear_terms

_ROUNDING = (AffineBinaryOpKind.Mod, AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv)
_QUOTIENTS = _ROUNDING[1:]

_NEAR = 32
"""So many first iterations of a loop are looked at, and those around every divisor."""


@lru_cache(maxsize=4096)
def is_rounded(access_map: AffineMap) -> bool:
    """Whether a subscript has a quotient or a remainder."""
    return any(
        isinstance(part, AffineBinaryOpExpr) and part.kind in _ROUNDING
        for subscript in access_map.results
        for part in subscript.dfs()
    )


@lru_cache(maxsize=4096)
def is_even(access_map: AffineMap, direction: tuple[int, ...], trips: int) -> bool:
    """Whether all subscripts grow by the same from each iteration of a loop to its next one.

    From 0 on, when the iterators move in a direction.
    """
    origin, first = (_subscripts(access_map, direction, k) for k in (0, 1))
    return all(
        value == start + k * (second - start)
        for k in _samples(access_map, direction, trips)
        for value, start, second in zip(
            _subscripts(access_map, direction, k), origin, first, strict=True
        )
    )


@lru_cache(maxsize=4096)
def moves(access_map: AffineMap, direction: tuple[int, ...], trips: int) -> bool:
    """Whether a subscript differs between iterations of a loop, from 0 on."""
    origin = _subscripts(access_map, direction, 0)
    samples = _samples(access_map, direction, trips)
    return any(_subscripts(access_map, direction, k) != origin for k in samples)


def block_and_period(maps: Iterable[AffineMap], dim: int) -> tuple[int, int]:
    """Within how many values of a dim, from a multiple on, all subscripts are affine; the period.

    (c floordiv 4, c floordiv 2 mod 2, c mod 2): 2 and 4. Those of affine subscripts are 0 and 1.
    """
    rounded = [each for each in maps if is_rounded(each)]
    found = [
        size for each in rounded for subscript in each.results for size in _divisors(subscript, dim)
    ]
    block, period = reduce(gcd, found, 0), reduce(lcm, found, 1)
    is_block = all(_has_blocks(each, dim, block) for each in rounded)
    return (block if is_block else 1), period


def _has_blocks(access_map: AffineMap, dim: int, block: int) -> bool:
    """Whether subscripts grow evenly, and by the same, within blocks of a dim: a few are tried."""
    unit = _unit(access_map, dim)
    steps: set[tuple[int, ...]] = set()
    for base in (0, block, 3 * block):
        for others in (0, 1):
            shifted = _shifted(access_map, dim, base, others)
            if not is_even(shifted, unit, block):
                return False
            ends = (_subscripts(shifted, unit, k) for k in (1, 0))
            steps.add(tuple(one - other for one, other in zip(*ends, strict=True)))
    return block <= 1 or len(steps) == 1


def _unit(access_map: AffineMap, dim: int) -> tuple[int, ...]:
    return tuple(int(position == dim) for position in range(access_map.num_dims))


def _shifted(access_map: AffineMap, dim: int, base: int, others: int) -> AffineMap:
    """The map with the dim counted from a base, and other dims from another one."""
    moved = [
        AffineDimExpr(position) + (base if position == dim else others)
        for position in range(access_map.num_dims)
    ]
    symbols = [AffineSymExpr(position) for position in range(access_map.num_symbols)]
    results = tuple(each.replace_dims_and_symbols(moved, symbols) for each in access_map.results)
    return AffineMap(access_map.num_dims, access_map.num_symbols, results)


def _subscripts(access_map: AffineMap, direction: Sequence[int], steps: int) -> list[int]:
    place = [steps * along for along in direction]
    return list(access_map.eval(place, [0] * access_map.num_symbols))


def _samples(access_map: AffineMap, direction: Sequence[int], trips: int) -> list[int]:
    """Iterations at which subscripts may round otherwise than before, and the first ones."""
    near = set(range(_NEAR))
    for dim, along in enumerate(direction):
        for subscript in access_map.results if along else ():
            for size in _divisors(subscript, dim):
                near |= {size // abs(along) + offset for offset in (-1, 0, 1)}
    return sorted(k for k in near if 0 <= k < trips)


def _divisors(expression: AffineExpr, dim: int) -> Iterator[int]:
    """By how many values of a dim each quotient and remainder goes to its next value, or wraps."""
    for part in expression.dfs():
        match part:
            case AffineBinaryOpExpr(kind, lhs, AffineConstantExpr(divisor)) if kind in _ROUNDING:
                for term, factor in linear_terms(lhs)[0].items():
                    left = divisor // gcd(divisor, factor)
                    if term == AffineDimExpr(dim):
                        yield left
                    elif isinstance(term, AffineBinaryOpExpr) and term.kind in _QUOTIENTS:
                        yield from (left * inner for inner in _divisors(term, dim))
            case _:
                pass
