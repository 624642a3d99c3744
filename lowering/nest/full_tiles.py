"""Full-tile separation: conditions under which a tile's box is full of instances.

The box of a tile is given by its point loops (`Loop.within`); a tile is full when the box minus
the instances is empty. Computed with isl on sets, so exact for triangular and skewed tiles too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

import islpy as isl

from ...passes.polyhedral.isl_context import coalesced
from ...passes.polyhedral.schedule_tree import Loop, chain, loops, statements

_SET = isl.dim_type.set
_OUT = isl.dim_type.out
_PARAM = isl.dim_type.param

MOST_PARTS = 3
"""Parts of the tiles with different statements, each of which may have code of its own."""


@dataclass(frozen=True, eq=False)
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
    in `outer`, and no loop in it is itself a tile loop of loops further inside; strips that are
    unrolled where they begin do not count.
    """
    inside = tuple(loops(loop))
    tiles = {inner.within.tile for inner in inside if inner.within is not None}
    tiles -= {inner.name for inner in inside if is_unrolled_strip(inner)}
    around = {enclosing.name for enclosing in outer}
    has_points = any(inner.within and inner.within.tile in around for inner in chain(loop))
    return has_points and not any(inner.name in tiles for inner in inside)


def is_unrolled_strip(loop: Loop) -> bool:
    """Whether the loop is one over strips that are unrolled where they begin."""
    body = loop.body
    return (
        isinstance(body, Loop)
        and body.unroll == 0
        and body.within is not None
        and body.within.tile == loop.name
    )


def tile_box(entry: Loop, outer: tuple[Loop, ...], domains: Mapping[str, isl.Set]) -> TileBox:
    """The box whose outermost point loop is `entry`, below the loops `outer`."""
    tiles = {loop.name for loop in outer}
    points = tuple(
        loop for loop in chain(entry) if loop.within is not None and loop.within.tile in tiles
    )
    explicit = tuple(loop for loop in points if loop.vector is not None or loop.unroll is not None)
    below = {name: domains[name] for name in statements(entry)}
    return TileBox(entry, outer, explicit or points, below)


def shared_tiles(box: TileBox, reached: isl.Set, context: isl.Set) -> list[tuple[TileBox, isl.Set]]:
    """Parts of the tiles `reached` in which the same statements have instances, and only those.

    What is initialised in the first iteration of a loop around the tile is not in all others. All
    tiles are one part where there would be many.
    """
    parts: list[tuple[tuple[str, ...], isl.Set]] = [((), reached)]
    for name, domain in box.domains.items():
        tiles = domain.intersect_params(context).apply(outer_schedule(box.outer, name, domain))
        split = [((*names, name), rest.intersect(tiles)) for names, rest in parts]
        split += [(names, rest.subtract(tiles)) for names, rest in parts]
        parts = [(names, coalesced(rest)) for names, rest in split if not rest.is_empty()]
        if len(parts) > MOST_PARTS:
            return [(box, reached)]
    return [
        (replace(box, domains={name: box.domains[name] for name in names}), rest)
        for names, rest in parts
        if names
    ]


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
    return coalesced(result)


def cut_tiles(box: TileBox, rest: isl.Set, context: isl.Set) -> Iterator[isl.Set]:
    """Parts of `rest`, tiles that are not full, in each of which all tiles are alike.

    These are boxes that are shorter in some of the point loops, by the same in all tiles of a part.
    There are none while sizes are unknown.
    """
    if not _has_known_sizes(context):
        return
    depth = len(box.outer)
    shapes = [
        _Shape(_points(box, name, domain.intersect_params(context)), depth)
        for name, domain in box.domains.items()
    ]
    tile = _box(box, rest.insert_dims(_SET, depth, len(box.points)).get_space(), context)
    for is_cut in product((False, True), repeat=len(box.points)):
        if any(is_cut):
            part = reduce(lambda tiles, shape: shape.alike(tiles, tile, is_cut), shapes, rest)
            extents = {shape.extents(part) for shape in shapes}
            if not part.is_empty() and len(extents) == 1 and None not in extents.pop():
                yield coalesced(part)


class _Shape:
    """One statement's points in each tile, by values of the outer and the point loops."""

    def __init__(self, points: isl.Set, depth: int) -> None:
        self.points = points
        self.depth = depth
        self.count = points.dim(_SET) - depth
        self.intervals = [_keep(points, depth, k) for k in range(self.count)]

    def alike(self, tiles: isl.Set, box: isl.Set, is_cut: tuple[bool, ...]) -> isl.Set:
        """The tiles that are boxes, not whole in just those point loops."""
        inside = box.intersect(tiles.insert_dims(_SET, self.depth, self.count))
        for k, interval in enumerate(self.intervals):
            cut = self._tiles(_keep(inside, self.depth, k).subtract(interval))
            tiles = tiles.intersect(cut) if is_cut[k] else tiles.subtract(cut)
        hull = tiles.insert_dims(_SET, self.depth, self.count)
        for k, interval in enumerate(self.intervals):
            hull = hull.intersect(_widen(interval, self.depth, k, self.count))
        return tiles.subtract(self._tiles(hull.subtract(self.points)))

    def extents(self, tiles: isl.Set) -> tuple[int | None, ...]:
        """The number of values of each point loop; None where it differs between tiles."""
        return tuple(
            _constant_length(interval.intersect(tiles.insert_dims(_SET, self.depth, 1)), self.depth)
            for interval in self.intervals
        )

    def _tiles(self, points: isl.Set) -> isl.Set:
        return points.project_out(_SET, self.depth, points.dim(_SET) - self.depth)


def _keep(points: isl.Set, depth: int, position: int) -> isl.Set:
    """The outer loops and the point loop number `position`."""
    after = points.dim(_SET) - depth - position - 1
    kept = points.project_out(_SET, depth + position + 1, after)
    return kept.project_out(_SET, depth, position)


def _widen(interval: isl.Set, depth: int, position: int, count: int) -> isl.Set:
    """The reverse of `_keep`: the other point loops have any value."""
    wide = interval.insert_dims(_SET, depth, position)
    return wide.insert_dims(_SET, depth + position + 1, count - position - 1)


def _constant_length(interval: isl.Set, depth: int) -> int | None:
    """The length of the last dimension when it is the same for all values of those before it."""
    if interval.is_empty():
        return None
    shape = isl.Map.from_range(interval).move_dims(isl.dim_type.in_, 0, _OUT, 0, depth)
    length = isl.Map.from_pw_aff(shape.dim_max(0).sub(shape.dim_min(0))).range()
    least, most = length.dim_min_val(0), length.dim_max_val(0)
    return most.to_python() + 1 if least.is_int() and least.eq(most) else None


def _has_known_sizes(context: isl.Set) -> bool:
    values = (
        context.plain_get_val_if_fixed(_PARAM, position) for position in range(context.dim(_PARAM))
    )
    return all(value.is_int() for value in values)


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
    parameters = domain.get_space().params()
    affs = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(loops))
    for loop in loops:
        affs = affs.add(loop.schedule[name].align_params(parameters))
    values = parameters.set_from_params().add_dims(_SET, len(loops))
    space = domain.get_space().map_from_domain_and_range(values)
    return isl.Map.from_multi_aff(isl.MultiAff.from_aff_list(space, affs)).intersect_domain(domain)
