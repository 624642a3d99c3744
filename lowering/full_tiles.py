"""Which tiles are full: every point of the tile's box is an instance of every statement.

The box of a tile is given by its point loops (`Loop.within`); a tile is full when the box minus
the instances is empty. Computed with isl on sets, so exact for triangular and skewed tiles too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from ..passes.schedule_tree import Loop, chain, loops, statements

_SET = isl.dim_type.set
_PARAM = isl.dim_type.param


@dataclass(frozen=True)
class TileBox:
    """The inside of a tile: `entry` is its outermost point loop, `outer` the loops around it.

    `points` are the point loops (from `entry` on, directly inside each other) of tile loops in
    `outer` whose extent should be constant: the vector and unrolled ones, or all when there are
    none. `domains` are the instances of the statements below.
    """

    entry: Loop
    outer: tuple[Loop, ...]
    points: tuple[Loop, ...]
    domains: Mapping[str, isl.Set]


def is_tile_entry(loop: Loop, outer: tuple[Loop, ...]) -> bool:
    """Whether the inside of an innermost tile begins at `loop`.

    That is so when a loop from here on, directly inside each other, is a point loop of a tile loop
    in `outer`, and none is itself a tile loop of loops further inside.
    """
    inside = chain(loop)
    tiles = {inner.within.tile for inner in loops(loop) if inner.within is not None}
    around = {enclosing.name for enclosing in outer}
    has_points = any(inner.within and inner.within.tile in around for inner in inside)
    return has_points and not any(inner.name in tiles for inner in inside)


def tile_box(entry: Loop, outer: tuple[Loop, ...], domains: Mapping[str, isl.Set]) -> TileBox:
    """The box whose outermost point loop is `entry`, below the loops `outer`."""
    tiles = {loop.name for loop in outer}
    points = tuple(
        loop for loop in chain(entry) if loop.within is not None and loop.within.tile in tiles
    )
    explicit = tuple(loop for loop in points if loop.vector is not None or loop.unroll is not None)
    below = {name: domains[name] for name in statements(entry)}
    return TileBox(entry, outer, explicit or points, below)


def full_tiles(box: TileBox, reached: isl.Set, context: isl.Set) -> isl.Set:
    """Values of the outer loops, within `reached`, at which the tile is full.

    `reached` is a flat set with one dimension per outer loop; so is the result.
    """
    result = reached
    for name, domain in box.domains.items():
        points = _points(box, name, domain.intersect_params(context))
        depth, size = len(box.outer), points.dim(_SET)
        tiles = points.project_out(_SET, depth, size - depth)
        missing = _box(box, points.get_space(), context).subtract(points)
        result = result.intersect(tiles)
        result = result.subtract(missing.project_out(_SET, depth, size - depth))
    return result.coalesce()


def restrict_to_tile(
    box: TileBox, full: isl.Set, parameters: tuple[str, ...]
) -> tuple[dict[str, isl.Set], isl.Set]:
    """Instances in one full tile and the context, in terms of new parameters.

    Parameter `parameters[k]` is the value of outer loop k; the context says that they are in
    `full`.
    """
    depth = len(parameters)
    first = full.dim(_PARAM)
    lifted = full.insert_dims(_PARAM, first, depth)
    for position, parameter in enumerate(parameters):
        lifted = lifted.set_dim_name(_PARAM, first + position, parameter)
    for position in range(depth):
        lifted = lifted.equate(_PARAM, first + position, _SET, position)
    context = lifted.params()
    domains: dict[str, isl.Set] = {}
    for name, domain in box.domains.items():
        values = outer_schedule(box.outer, name, domain) if depth else None
        inside = domain.intersect(values.intersect_range(lifted).domain()) if values else domain
        domains[name] = inside.intersect_params(context)
    return domains, context


def _points(box: TileBox, name: str, domain: isl.Set) -> isl.Set:
    """Values of the outer loops and the point loops at the instances of one statement."""
    return domain.apply(outer_schedule((*box.outer, *box.points), name, domain))


def _box(box: TileBox, space: isl.Space, context: isl.Set) -> isl.Set:
    """All points of the tile: each point loop runs over its whole tile size."""
    position = {loop.name: k for k, loop in enumerate(box.outer)}
    result = isl.Set.universe(space).intersect_params(context)
    local = isl.LocalSpace.from_space(space)
    for k, loop in enumerate(box.points, start=len(box.outer)):
        assert loop.within is not None
        value = isl.Aff.var_on_domain(local, _SET, k)
        tile = isl.Aff.var_on_domain(local, _SET, position[loop.within.tile])
        start = tile.scale_val(isl.Val(loop.within.size))
        result = result.intersect(value.ge_set(start))
        result = result.intersect(value.le_set(start.add_constant_val(loop.within.size - 1)))
    return result


def outer_schedule(loops: tuple[Loop, ...], name: str, domain: isl.Set) -> isl.Map:
    """The values of `loops` at the instances of a statement: `{ S0[i, j] -> [l0, l1, ...] }`."""
    result = isl.Map.from_domain(domain)
    for loop in loops:
        aff = loop.schedule[name].align_params(domain.get_space().params())
        result = result.flat_range_product(isl.Map.from_aff(aff))
    return result
