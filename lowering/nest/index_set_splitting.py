"""Index-set splitting of sequential loops, for constant trip counts of the loops inside.

Where the bounds of a register tile depend on the loop around it, as on the diagonal of a triangle,
there is a range of that loop in which the tile is full:

    for k in [8 it + 1, m):                     for k in [8 it + 1, min(m, 8 it + 8)):
      for i in [8 it, min(8 it + 8, k)):          for i in [8 it, min(8 it + 8, k)): S
        S                                  ->   for k in [max(8 it + 1, 8 it + 8), m):
                                                  for i in [8 it, 8 it + 8): S

Where several statements have register tiles in one loop, each gets its own ranges, in which what
cannot run beside it is left out. Blocks that are copied, of unrolled and vector loops outside of
tiles, are full or not for all of their loop:

    for j in [0, m), unrolled:                  if 32 it + 32 <= n:
      for i in [32 it, min(32 it + 32, n)),  ->   for j in [0, m): for i in [32 it, 32 it + 32): S
          vector: S                             else: ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...passes.polyhedral.schedule_tree import loops
from .full_tiles import is_unrolled_strip
from .index_expression import (
    Comparison,
    Connective,
    Index,
    bounds,
    conjuncts,
    decide,
    maximum,
    minimum,
    without_quotient,
)
from .nest import Block, For, Guard, Nest, Once, TileSplit, walk, with_children
from .simplification import is_implied, simplify


def split_index_sets(nest: Nest) -> Nest:
    """The nest in which loops around full tiles run over full and partial ranges separately.

    Loops over tiles, but for strips that are unrolled, and those inside of partial tiles stay
    whole; so do unrolled and vector loops.
    """
    if isinstance(nest, TileSplit):
        # What is left of partial tiles is another case, all of whose tiles are alike, or stays.
        is_alike = isinstance(nest.partial, TileSplit)
        partial = split_index_sets(nest.partial) if is_alike else nest.partial
        return replace(nest, full=split_index_sets(nest.full), partial=partial)
    nest = with_children(nest, split_index_sets)
    return _cut(nest) if isinstance(nest, For) and _can_be_cut(nest) else nest


@dataclass(frozen=True)
class _Full:
    """A nest whose tiles are full if none of the conditions is negative."""

    nest: Nest
    conditions: tuple[Index, ...] = ()


@dataclass(frozen=True)
class _Ranges:
    """Ranges of a loop in which the tiles of its body are full.

    That is so from the largest of `first` on, before the least of `end`, provided that none of
    `fixed` is negative.
    """

    first: tuple[Index, ...]
    end: tuple[Index, ...]
    fixed: tuple[Index, ...]

    @property
    def condition(self) -> Connective:
        """The condition on what does not change in the loop."""
        return Connective("all", tuple(Comparison(">=", index) for index in self.fixed))


def _can_be_cut(nest: For) -> bool:
    if nest.is_explicit:
        around = (nest.loop, *loops(nest.loop.body))
        return len(around) > 1 and all(each.within is None for each in around)
    tiles = {inner.within.tile for inner in loops(nest.loop.body) if inner.within is not None}
    if is_unrolled_strip(nest.loop):
        tiles -= {nest.loop.name}
    is_plain = not nest.loop.parallel and nest.step == 1 and nest.size is None
    return is_plain and nest.loop.name not in tiles


def _cut(nest: For) -> Nest:
    """The loop before, in and behind the ranges in which the tiles inside are full."""
    alternatives: list[tuple[_Ranges, Nest]] = []
    tried: set[frozenset[Index]] = set()
    for full in _alternatives(nest.body):
        ranges = _ranges(nest, full.conditions)
        if ranges is None or frozenset(full.conditions) in tried or _is_impossible(ranges.fixed):
            continue
        if nest.is_explicit and (ranges.first or ranges.end):
            continue
        tried.add(frozenset(full.conditions))
        alternatives.append((ranges, _in_ranges(nest, full, ranges)))
        if not ranges.fixed:
            break
    known = tuple(-r.fixed[0] - 1 for r, _ in alternatives if len(r.fixed) == 1)
    result: Nest = nest if not known else simplify(nest, known)
    for ranges, parts in reversed(alternatives):
        result = parts if decide(ranges.condition) else Guard(ranges.condition, parts, result)
    return result


def _in_ranges(nest: For, full: _Full, ranges: _Ranges) -> Nest:
    inside = simplify(full.nest, full.conditions)
    lower, upper = nest.lower, nest.upper
    parts: list[For] = []
    if ranges.first:
        rest = simplify(nest.body, (*ranges.fixed, *_violated(nest, ranges.first, "first")))
        parts.append(_between(nest, lower, (*upper, maximum(ranges.first)), rest))
    parts.append(_between(nest, (*lower, *ranges.first), (*upper, *ranges.end), inside))
    if ranges.end:
        rest = simplify(nest.body, (*ranges.fixed, *_violated(nest, ranges.end, "end")))
        parts.append(_between(nest, (*lower, *ranges.first, minimum(ranges.end)), upper, rest))
    return Block(tuple(part for part in parts if part.trip_count != 0 and part.body != Block(())))


def _violated(
    nest: For, limits: Sequence[Index], kind: Literal["first", "end"]
) -> tuple[Index, ...]:
    """What is known outside of a range: with several limits, not which one is exceeded."""
    if len(limits) > 1:
        return ()
    value = Index.variable(nest.variable)
    return (limits[0] - 1 - value if kind == "first" else value - limits[0],)


def _ranges(nest: For, conditions: Sequence[Index]) -> _Ranges | None:
    first: list[Index] = []
    end: list[Index] = []
    fixed: list[Index] = []
    for condition in conditions:
        coefficient = condition.coefficient(nest.variable)
        if coefficient is None:
            return None
        rest = condition - Index.variable(nest.variable) * coefficient
        if coefficient > 0:
            first.append(-(rest // coefficient))
        elif coefficient < 0:
            end.append(rest // -coefficient + 1)
        else:
            fixed.append(rest)
    return _Ranges(tuple(first), tuple(end), tuple(fixed))


def _is_impossible(conditions: Sequence[Index]) -> bool:
    return any(is_implied(-condition - 1, conditions) for condition in conditions)


def _between(nest: For, lower: Sequence[Index], upper: Sequence[Index], body: Nest) -> For:
    return replace(
        nest, lower=bounds("max", maximum(lower)), upper=bounds("min", minimum(upper)), body=body
    )


def _alternatives(body: Nest) -> Iterator[_Full]:
    """The body with all its largest register tiles full, or else with one of them full."""
    parts = body.parts if isinstance(body, Block) else (body,)
    sizes = [sum(isinstance(n, For) and n.is_explicit for n in _of_full(part)) for part in parts]
    largest = [k for k, size in enumerate(sizes) if size == max(sizes)]
    for chosen in (largest, *([k] for k in largest)):
        full = {k: _full(parts[k], {}) for k in chosen}
        known = {k: part for k, part in full.items() if part is not None}
        conditions = tuple(c for part in known.values() for c in part.conditions)
        if len(known) == len(chosen) and conditions:
            new = [known[k].nest if k in known else part for k, part in enumerate(parts)]
            yield _Full(Block(tuple(new)), conditions)


def _of_full(nest: Nest) -> Iterator[Nest]:
    """The nodes of the nest where its tiles are full."""
    return walk(nest.full if isinstance(nest, TileSplit) else nest)


def _full(nest: Nest, ranges: Mapping[int, tuple[Index, Index]]) -> _Full | None:
    """The nest with full tiles; None where it is not known when these are full.

    `ranges` are first and last values of the loops of the tile around it, by variable.
    """
    match nest:
        case For() if nest.is_explicit:
            return _full_loop(nest, ranges)
        case TileSplit(condition, full):
            comparisons = conjuncts(condition)
            inner = _full(full, ranges)
            if inner is None or comparisons is None or any(c.kind != ">=" for c in comparisons):
                return None
            own = _everywhere([c.left for c in comparisons if not decide(c)], ranges)
            return None if own is None else _Full(inner.nest, (*own, *inner.conditions))
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
    own = [*(low - other for other in nest.lower), *(limit - high for limit in nest.upper)]
    conditions = _everywhere(own, ranges)
    if conditions is None:
        return None
    full = replace(nest, lower=(low,), upper=(high,), body=inner.nest)
    return _Full(full, (*inner.conditions, *map(without_quotient, conditions)))


def _everywhere(
    conditions: Sequence[Index], ranges: Mapping[int, tuple[Index, Index]]
) -> list[Index] | None:
    """What must not be negative, so that no condition is for any values in the ranges.

    None where some condition is always negative for some of these, or that is not known.
    """
    found: list[Index] = []
    for condition in conditions:
        worst = _least(condition, ranges)
        if worst is None or (worst.is_constant and worst.constant < 0):
            return None
        if not worst.is_constant:
            found.append(worst)
    return found


def _least(index: Index, ranges: Mapping[int, tuple[Index, Index]]) -> Index | None:
    """The least value of the index in these ranges of variables; None where it is not known."""
    for variable, (first, last) in reversed(list(ranges.items())):
        coefficient = index.coefficient(variable)
        if coefficient is None:
            return None
        value = first if coefficient > 0 else last
        index = index.substitute({variable: value}) if coefficient else index
    return index
