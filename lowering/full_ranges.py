"""Cuts sequential loops where the vector and unrolled loops inside get constant trip counts.

Where the bounds of a register tile depend on the loop around it, as on the diagonal of a triangle,
there is a range of that loop in which the tile is full:

    for k in [8 it + 1, m):                     for k in [8 it + 1, min(m, 8 it + 8)):
      for i in [8 it, min(8 it + 8, k)):          for i in [8 it, min(8 it + 8, k)): S
        S                                  ->   for k in [max(8 it + 1, 8 it + 8), m):
                                                  for i in [8 it, 8 it + 8): S
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .index_expression import (
    Comparison,
    Connective,
    Index,
    bounds,
    decide,
    maximum,
    minimum,
    without_quotient,
)
from .nest import Block, Call, For, Guard, Nest, Once, TileSplit


def cut_into_full_ranges(nest: Nest) -> Nest:
    """The nest in which loops around full tiles run over full and partial ranges separately.

    Loops inside of partial tiles stay whole.
    """
    match nest:
        case For():
            nest = replace(nest, body=cut_into_full_ranges(nest.body))
            is_plain = not _is_explicit(nest) and not nest.loop.parallel and nest.step == 1
            return _cut(nest) if is_plain else nest
        case Once():
            return replace(nest, body=cut_into_full_ranges(nest.body))
        case Block(parts):
            return Block(tuple(cut_into_full_ranges(part) for part in parts))
        case Guard(condition, then, otherwise):
            return Guard(condition, cut_into_full_ranges(then), cut_into_full_ranges(otherwise))
        case TileSplit():
            return replace(nest, full=cut_into_full_ranges(nest.full))
        case Call():
            return nest


@dataclass(frozen=True)
class _Full:
    """A nest whose tiles are full where none of the conditions is negative."""

    nest: Nest
    conditions: tuple[Index, ...] = ()


def _is_explicit(nest: For) -> bool:
    return nest.loop.vector is not None or nest.loop.unroll is not None


def _cut(nest: For) -> Nest:
    """The loop before, in and behind the range in which the tiles inside are full."""
    full = _full(nest.body, {})
    if full is None or not full.conditions:
        return nest
    first: list[Index] = []
    end: list[Index] = []
    fixed: list[Comparison] = []
    for condition in full.conditions:
        coefficient = condition.coefficient(nest.variable)
        if coefficient is None:
            return nest
        rest = condition - Index.variable(nest.variable) * coefficient
        if coefficient > 0:
            first.append(-(rest // coefficient))
        elif coefficient < 0:
            end.append(rest // -coefficient + 1)
        else:
            fixed.append(Comparison(">=", rest))
    is_possible = Connective("all", tuple(fixed))
    if decide(is_possible) is False:
        return nest
    lower, upper = nest.lower, nest.upper
    before = [_between(nest, lower, (*upper, maximum(first)))] if first else []
    inside = [_between(nest, (*lower, *first), (*upper, *end), full.nest)]
    behind = [_between(nest, (*lower, *first, minimum(end)), upper)] if end else []
    ranges = Block(tuple(part for part in (*before, *inside, *behind) if part.trip_count != 0))
    return ranges if decide(is_possible) else TileSplit(is_possible, ranges, nest)


def _between(
    nest: For, lower: tuple[Index, ...], upper: tuple[Index, ...], body: Nest | None = None
) -> For:
    return replace(
        nest,
        lower=bounds("max", maximum(lower)),
        upper=bounds("min", minimum(upper)),
        body=nest.body if body is None else body,
    )


def _full(nest: Nest, ranges: Mapping[int, tuple[Index, Index]]) -> _Full | None:
    """The nest with full tiles; None where it is not known when these are full.

    `ranges` are first and last values of the loops of the tile around it, by variable.
    """
    match nest:
        case For() if _is_explicit(nest):
            return _full_loop(nest, ranges)
        case Once() | Guard(otherwise=Block(())):
            name = "body" if isinstance(nest, Once) else "then"
            inner = _full(getattr(nest, name), ranges)
            return inner and _Full(replace(nest, **{name: inner.nest}), inner.conditions)
        case Block(parts):
            inner = [_full(part, ranges) for part in parts]
            known = [part for part in inner if part is not None]
            if len(known) < len(inner):
                return None
            conditions = tuple(c for part in known for c in part.conditions)
            return _Full(Block(tuple(part.nest for part in known)), conditions)
        case _:
            return _Full(nest)


def _full_loop(nest: For, ranges: Mapping[int, tuple[Index, Index]]) -> _Full | None:
    tile = nest.loop.within
    pairs = [(low, high) for low in nest.lower for high in nest.upper if (high - low).is_constant]
    chosen = [(a, b) for a, b in pairs if tile and (b - a).constant == tile.size] or pairs
    if not chosen:
        return _Full(nest)
    low, high = chosen[0]
    inner = _full(nest.body, {**ranges, nest.variable: (low, high - 1)})
    if inner is None:
        return None
    conditions = list(inner.conditions)
    for condition in (*(low - other for other in nest.lower), *(u - high for u in nest.upper)):
        worst = _least(condition, ranges)
        if worst is None or (worst.is_constant and worst.constant < 0):
            return None
        if not worst.is_constant:
            conditions.append(without_quotient(worst))
    return _Full(replace(nest, lower=(low,), upper=(high,), body=inner.nest), tuple(conditions))


def _least(index: Index, ranges: Mapping[int, tuple[Index, Index]]) -> Index | None:
    """The least value of the index in these ranges of variables; None where it is not known."""
    for variable, (first, last) in reversed(list(ranges.items())):
        coefficient = index.coefficient(variable)
        if coefficient is None:
            return None
        value = first if coefficient > 0 else last
        index = index.substitute({variable: value}) if coefficient else index
    return index
