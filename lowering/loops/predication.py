"""Predication: control flow that differs between the lanes of a vector becomes masks.

    for i in lanes: for k in [max(0, 3 - i), 7): S(i, k)
    ->  for k in [0, 7): S(i, k) in the lanes where i >= 3 - k

Where all lanes run the same iterations, as away from the borders of an array, there are no masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ...dialects.vector import vector_of
from ..nest.index_bounds import Range, is_never_negative
from ..nest.index_expression import (
    Comparison,
    Condition,
    Connective,
    Index,
    condition_indices,
    conjuncts,
)
from ..nest.nest import Block, Call, For, Guard, Nest, Once, TileSplit, children, with_children
from .ir_builder import IRBuilder
from .lane_places import Lanes


def differs(indices: Iterable[Index], lanes: Lanes) -> bool:
    """Whether one of the indices is not the same in all lanes."""
    return any(index.depends_on(lanes.variable) for index in indices)


def diverges(nest: Nest, lanes: Lanes) -> bool:
    """Whether lanes differ in the iterations, or in the branch, of this node."""
    return differs(_own_indices(nest), lanes)


def is_maskable(nest: Nest, lanes: Lanes) -> bool:
    """Whether masks can say which lanes run a divergent node.

    Iterations of loops with a step do not meet where these begin at different places.
    """
    match nest:
        case For(size=None, value=value) if nest.step == 1 or not any(_of(nest.lower, lanes)):
            if value is not None and value.depends_on(lanes.variable):
                return False
            indices = [*nest.lower, *nest.upper]
        case Guard(condition, _, Block(())) if (parts := conjuncts(condition)) is not None:
            indices = [part.left for part in parts]
        case _:
            return False
    return all(index.along(lanes.variable, lanes.width) is not None for index in indices)


def moving_arguments(call: Call, lanes: Lanes | None) -> frozenset[int]:
    """The arguments of a call, by position, that divergent loops around it move."""
    if lanes is None or not lanes.inside:
        return frozenset()
    return frozenset(
        position
        for position, argument in enumerate(call.arguments)
        if not lanes.inside.isdisjoint(argument.variables())
    )


def in_lanes(
    builder: IRBuilder, lanes: Lanes, first: Sequence[Index], end: Sequence[Index]
) -> Lanes:
    """The lanes from the largest of `first` on, below the least of `end`: those it has, at most."""
    first, end = (*lanes.first, *first), (*lanes.end, *end)
    mask = _below(builder, "min", end or (Index(lanes.width),), lanes.width)
    if first:
        skipped = _below(builder, "max", first, lanes.width)
        mask = builder.emit(
            arith.XOrIOp(mask, builder.emit(arith.AndIOp(mask, skipped)).result)
        ).result
    return replace(lanes, mask=mask, first=first, end=end)


def where(
    builder: IRBuilder, lanes: Lanes, conditions: Iterable[Index], ranges: Sequence[Range]
) -> Lanes:
    """The lanes in which all of the conditions, linear in the lane, are at least 0.

    Those that are the same in all lanes are known to hold.
    """
    first: list[Index] = []
    end: list[Index] = []
    for condition in conditions:
        start, step = _along(condition, lanes)
        if not step or any(is_never_negative(each, ranges) for each in _least(condition, lanes)):
            continue
        if step > 0:
            first.append(-(start // step))
        else:
            end.append(start // -step + 1)
    return in_lanes(builder, lanes, first, end) if first or end else lanes


def branch_of_lanes(
    builder: IRBuilder, condition: Condition, lanes: Lanes, ranges: Sequence[Range]
) -> tuple[Condition, Lanes]:
    """What must hold in all lanes, or in any, that a condition may hold; and in which it does."""
    parts = conjuncts(condition)
    assert parts is not None, "checked by is_maskable"
    located = [(part, *_along(part.left, lanes)) for part in parts]
    same = (Comparison(part.kind, start) for part, start, step in located if not step)
    differing = [part for part, _, step in located if step]
    conditions = [part.left for part in differing]
    conditions += [-part.left for part in differing if part.kind == "=="]
    active = where(builder, lanes, conditions, ranges)
    return Connective("all", (*same, any_lane(active))), active


def apart(lanes: Lanes) -> Lanes:
    """The lanes where some that came to a divergent loop around may never come."""
    return lanes if lanes.around is None else replace(lanes, around=None, inside=frozenset())


def any_lane(lanes: Lanes) -> Connective:
    """Whether there are lanes at all."""
    first, end = (Index(), *lanes.first), (Index(lanes.width), *lanes.end)
    return Connective("all", tuple(Comparison(">=", e - f - 1) for f in first for e in end))


MOST_MASKED = 2
"""Iterations up to which a loop has masks in all of them, in widths of the vectors."""


@dataclass(frozen=True)
class DivergentLoop:
    """A loop from the largest of `lower` to below the least of `upper`, which lanes differ in."""

    builder: IRBuilder
    nest: For
    lower: tuple[Index, ...]
    upper: tuple[Index, ...]
    lanes: Lanes

    def is_long(self, lower: tuple[Index, ...], upper: tuple[Index, ...]) -> bool:
        """Whether a loop with these bounds, of any lane, is worth a part without masks."""
        lengths = [end - begin for end in upper for begin in lower]
        return self.nest.step == 1 and not any(
            length.is_constant and length.constant <= MOST_MASKED * self.lanes.width
            for length in lengths
        )

    def common_bounds(self) -> tuple[tuple[Index, ...], tuple[Index, ...]]:
        """Those of the iterations that all lanes have."""
        return (
            tuple(-_least(-bound, self.lanes)[-1] for bound in self.lower),
            tuple(_least(bound, self.lanes)[-1] for bound in self.upper),
        )

    def entered(self, ranges: Sequence[Range]) -> Lanes:
        """The lanes that have any iteration."""
        lengths = (end - begin - 1 for end in self.upper for begin in self.lower)
        return where(self.builder, self.lanes, _of(lengths, self.lanes), ranges)

    def bounds(self, ranges: Sequence[Range]) -> tuple[tuple[Index, ...], tuple[Index, ...]]:
        """Those of the iterations that any lane has."""
        return (
            _of_all_lanes(self.lower, self.lanes, 1, ranges),
            _of_all_lanes(self.upper, self.lanes, -1, ranges),
        )

    def active(self, iteration: Index, entered: Lanes, ranges: Sequence[Range]) -> Lanes:
        """The lanes that have this iteration."""
        conditions = [iteration - bound for bound in _of(self.lower, self.lanes)]
        conditions += [bound - 1 - iteration for bound in _of(self.upper, self.lanes)]
        active = where(self.builder, entered, conditions, ranges)
        if active is entered:
            return apart(entered)
        inside = self.lanes.inside.union(_variables_of(self.nest))
        return replace(active, around=entered, inside=inside)


def without_divergence(nest: Nest, lanes: Lanes) -> tuple[Nest, list[Comparison]]:
    """The nest without bounds that the others imply where the conditions are met.

    These are known outside of it.
    """
    own = frozenset(_variables_of(nest))
    met: list[Comparison] = []

    def needed(index: Index) -> bool:
        least = _least(index, lanes)[-1]
        if not own.isdisjoint(least.variables()):
            return True
        met.append(Comparison(">=", least))
        return False

    def kept(bounds: tuple[Index, ...], sign: int) -> tuple[Index, ...]:
        same = [bound for bound in bounds if not bound.depends_on(lanes.variable)]
        return tuple(
            bound
            for bound in bounds
            if bound in same or not same or needed((same[-1] - bound) * sign)
        )

    def simplified(node: Nest) -> Nest:
        if isinstance(node, For) and diverges(node, lanes):
            node = replace(node, lower=kept(node.lower, 1), upper=kept(node.upper, -1))
        elif isinstance(node, Guard) and diverges(node, lanes):
            rest = (
                part
                for part in conjuncts(node.condition) or ()
                if part.kind == "==" or not differs([part.left], lanes) or needed(part.left)
            )
            node = replace(node, condition=Connective("all", tuple(rest)))
        return with_children(node, simplified)

    return simplified(nest), met


def _variables_of(nest: Nest) -> Iterator[int]:
    """The variables of a nest's loops."""
    if isinstance(nest, For):
        yield nest.variable
    for child in children(nest):
        yield from _variables_of(child)


def _of_all_lanes(
    bounds: Sequence[Index], lanes: Lanes, sign: int, ranges: Sequence[Range]
) -> tuple[Index, ...]:
    """Bounds of the iterations of any lane: lower ones for sign 1, upper ones for -1."""
    wide = [
        each * sign
        for bound in bounds
        for each in (
            _least(bound * sign, lanes) if bound.depends_on(lanes.variable) else [bound * sign]
        )
    ]
    kept: list[Index] = []
    for place, bound in enumerate(wide):
        others = (*kept, *wide[place + 1 :])
        if not any(is_never_negative((other - bound) * sign, ranges) for other in others):
            kept.append(bound)
    return tuple(kept)


def _own_indices(nest: Nest) -> tuple[Index, ...]:
    match nest:
        case For():
            return (*nest.lower, *nest.upper, *([nest.size] if nest.size else []))
        case Once(value=value):
            return (value,)
        case Guard(condition=condition) | TileSplit(condition=condition):
            return tuple(condition_indices(condition))
        case _:
            return ()


def _of(indices: Iterable[Index], lanes: Lanes) -> Iterator[Index]:
    return (index for index in indices if index.depends_on(lanes.variable))


def _along(index: Index, lanes: Lanes) -> tuple[Index, int]:
    located = index.along(lanes.variable, lanes.width)
    assert located is not None, "checked by is_maskable"
    return located


def _least(index: Index, lanes: Lanes) -> list[Index]:
    """Indices that are not larger than this one in any of the lanes; the last is the closest."""
    start, step = _along(index, lanes)
    if step >= 0:
        return [start, *(start + each * step for each in lanes.first)]
    return [start + end * step - step for end in (Index(lanes.width), *lanes.end)]


def _below(builder: IRBuilder, kind: str, counts: Sequence[Index], width: int) -> SSAValue:
    """The lanes below the least (largest) of the counts."""
    count = builder.extremum(kind, counts)
    return builder.emit(xdsl_vector.CreateMaskOp([count], vector_of(i1, width))).mask_vector
