"""Coverage: every statement instance runs exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations_with_replacement

import islpy as isl

from .order import Event, earlier, later, meeting
from .verdict import Property, ViolatedError, Witness

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


def check_coverage(name: str, domain: isl.Set, events: Sequence[Event]) -> None:
    """Raises ViolatedError unless the call sites run the domain, each instance once."""
    groups: dict[tuple[object, ...], list[Event]] = {}
    for event in events:
        extra = event.instances.range().subtract(domain)
        _none("runs, but is no instance of the program", name, extra)
        tiles = [id(event.site.loops[loop].loop) for loop in event.site.tile_sizes]
        groups.setdefault((event.site.statement if tiles else "", *tiles), []).append(event)
    missing = domain
    for group in groups.values():
        missing = _left_out(missing, group)
    _none("never runs", name, missing)
    for one, other in combinations_with_replacement(events, 2):
        if one is not other or one.site.tile_sizes or not one.instances.is_injective():
            _none("runs more than once", name, _run_twice(one, other))


def _left_out(domain: isl.Set, events: Sequence[Event]) -> isl.Set:
    """The instances that call sites inside of the same loops over tiles leave out.

    Where calls give the size of tiles, isl does not know where these begin: an instance is there
    for sure if it runs wherever a tile with it may begin.
    """
    site = events[0].site
    if not site.tile_sizes:
        return reduce(isl.Set.subtract, (event.instances.range() for event in events), domain)
    begins = isl.Map.from_domain(domain)
    for loop, size in site.tile_sizes.items():
        value = isl.Map.from_aff(site.loops[loop].loop.schedule[site.statement])
        value = value.set_tuple_name(_IN, domain.get_tuple_name())
        begins = begins.flat_range_product(value.apply_range(_tiles_with(domain, size)))
    runs = (_begins_of_tiles(event).reverse() for event in events)
    return reduce(isl.Map.subtract, runs, begins.intersect_domain(domain)).domain()


def _tiles_with(domain: isl.Set, size: str) -> isl.Map:
    """`{ [value] -> [begin] : begin <= value < begin + size }`."""
    line = domain.get_space().params().set_from_params().add_dims(isl.dim_type.set, 1)
    space = line.map_from_set()
    local = isl.LocalSpace.from_space(space)
    distance = isl.Constraint.alloc_inequality(local)
    distance = distance.set_coefficient_val(_IN, 0, isl.Val(1))
    distance = distance.set_coefficient_val(_OUT, 0, isl.Val(-1))
    position = space.find_dim_by_name(isl.dim_type.param, size)
    rest = isl.Constraint.alloc_inequality(local).set_constant_val(isl.Val(-1))
    rest = rest.set_coefficient_val(_IN, 0, isl.Val(-1)).set_coefficient_val(_OUT, 0, isl.Val(1))
    rest = rest.set_coefficient_val(isl.dim_type.param, position, isl.Val(1))
    return isl.Map.universe(space).add_constraint(distance).add_constraint(rest)


def _begins_of_tiles(event: Event) -> isl.Map:
    """The instances by where the tiles begin in which they run: `{ [b0, b1, ...] -> S0[i] }`."""
    result = event.instances
    for loop in reversed(range(len(event.site.loops))):
        if loop not in event.site.tile_sizes:
            result = result.project_out(_IN, loop, 1)
    return result


def _run_twice(one: Event, other: Event) -> isl.Set:
    """The instances that both call sites run, or one does for several values of the loops."""
    pairs = one.instances.apply_range(other.instances.reverse())
    common, _ = meeting(one.site, other.site)
    twice: list[isl.Map] = []
    for loop in range(common):
        twice += [earlier(pairs, one.site, loop), later(pairs, one.site, loop)]
        pairs = pairs.equate(_IN, loop, _OUT, loop)
    if one is not other:
        twice.append(pairs)
    executions = reduce(isl.Map.union, twice, isl.Map.empty(pairs.get_space()))
    return one.instances.intersect_domain(executions.domain()).range()


def _none(what: str, name: str, instances: isl.Set) -> None:
    if not instances.is_empty():
        message = f"an instance of {name} {what}"
        raise ViolatedError(Property.COVERAGE, message, Witness.among(instances))
