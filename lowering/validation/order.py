"""Execution order of statement instances, for one pair of call sites at a time.

Two executions are ordered by the loops around both, outermost first, and by the block in which
their ways part. So a relation between instances is in order when, for each pair of call sites, none
of its pairs runs backwards along a common loop, and none is left that a block runs backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from ..nest.nest import For
from .reading import CallSite

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, eq=False)
class Event:
    """Execution of a program's statement instances at a call site.

    `instances` is `{ [v0, v1, ...] -> S0[i, j] }`: the call's own instances, or those for which a
    copy reads or writes an element.
    """

    site: CallSite
    instances: isl.Map


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of executions of two call sites, `{ [v0, ...] -> [w0, ...] }`, and how many loops and
    which parts of a block they share."""

    source: Event
    target: Event
    relation: isl.Map
    common: int
    is_forward: bool

    def instances(self) -> isl.Map:
        """The pairs of instances."""
        return self.source.instances.reverse().apply_range(
            self.relation.apply_range(self.target.instances)
        )


def meeting(one: CallSite, other: CallSite) -> tuple[int, bool]:
    """The number of loops around both, and whether then a block runs the first one first."""
    loops = 0
    for step, along in zip(one.steps, other.steps, strict=False):
        assert step.node is along.node, "two ways that have not parted"
        if step.number != along.number:
            return loops, step.kind == "block" and step.number < along.number
        loops += isinstance(step.node, For)
    return loops, False


def earlier(pairs: isl.Map, site: CallSite, loop: int) -> isl.Map:
    """The pairs of which the first one has a smaller value of a loop, in an earlier iteration.

    Tiles of a size that calls give begin at least that size apart.
    """
    size = site.tile_sizes.get(loop)
    return pairs.order_lt(_IN, loop, _OUT, loop) if size is None else _apart(pairs, loop, size, 1)


def later(pairs: isl.Map, site: CallSite, loop: int) -> isl.Map:
    """The pairs of which the first one is in a later iteration of a loop."""
    size = site.tile_sizes.get(loop)
    return pairs.order_gt(_IN, loop, _OUT, loop) if size is None else _apart(pairs, loop, size, -1)


def _apart(pairs: isl.Map, loop: int, size: str, sign: int) -> isl.Map:
    """The pairs whose second value is larger (for -1: smaller) by at least the size."""
    space = pairs.get_space()
    limit = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(space))
    position = space.find_dim_by_name(isl.dim_type.param, size)
    limit = limit.set_coefficient_val(isl.dim_type.param, position, isl.Val(-1))
    limit = limit.set_coefficient_val(_IN, loop, isl.Val(-sign))
    return pairs.add_constraint(limit.set_coefficient_val(_OUT, loop, isl.Val(sign)))


def executions(
    relation: isl.Map, sources: Sequence[Event], targets: Sequence[Event]
) -> Iterator[Pairs]:
    """The pairs of a relation between instances, by the call sites that run them."""
    for source in sources:
        left = source.instances.apply_range(relation)
        if left.is_empty():
            continue
        for target in targets:
            common, is_forward = meeting(source.site, target.site)
            if common == 0 and is_forward:
                continue
            pairs = left.apply_range(target.instances.reverse())
            if not pairs.is_empty():
                yield Pairs(source, target, pairs, common, is_forward)


def backward(
    relation: isl.Map, sources: Sequence[Event], targets: Sequence[Event]
) -> isl.Map | None:
    """Pairs of the relation whose source does not run before the target; None if all do."""
    for pairs in executions(relation, sources, targets):
        rest = pairs.relation
        for loop in range(pairs.common):
            wrong = later(rest, pairs.source.site, loop)
            if not wrong.is_empty():
                return _narrowed(pairs, wrong).instances()
            rest = rest.equate(_IN, loop, _OUT, loop)
            if rest.is_empty():
                break
        else:
            if not pairs.is_forward:
                return _narrowed(pairs, rest).instances()
    return None


def _narrowed(pairs: Pairs, relation: isl.Map) -> Pairs:
    return Pairs(pairs.source, pairs.target, relation, pairs.common, pairs.is_forward)
