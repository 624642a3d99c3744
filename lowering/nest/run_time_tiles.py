"""Tile loops with run-time sizes.

The set of points in a tile is not affine in the tile's number and size, but it is in the tile's
first value and its size. So a tile loop is taken out of the tree: for what is around it, its body
is one statement, whose instances are the values of the loops around; for what is inside, first
value and size are parameters.

    for i: for j: S           tiles() ;    with first, size:  for i in [first, first + size):
                                                                for j: S

The loop itself runs over the multiples of the size whose tiles overlap the values of its function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

import islpy as isl

from ...passes.polyhedral.isl_context import coalesced
from ...passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, statements
from .full_tiles import TileBox, outer_schedule, restrict_to_tile
from .limits import limits

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param


@dataclass(frozen=True)
class Tiles:
    """An outermost run-time tile loop and the loops around it."""

    loop: Loop
    outer: tuple[Loop, ...]


@dataclass(eq=False)
class Collapsed:
    """A tree whose outermost run-time tile loops are statements, over `domains`.

    `tiles` has these loops by the names of the statements, and `originals` the loops around them
    as they were, by the identity of what they have become.
    """

    domains: dict[str, isl.Set]
    tree: Tree = field(default_factory=lambda: Sequence(()))
    tiles: dict[str, Tiles] = field(default_factory=dict[str, Tiles])
    originals: dict[int, Loop] = field(default_factory=dict[int, Loop])


@dataclass(frozen=True, eq=False)
class TileInside:
    """The tree inside the tiles of a run-time tile loop, and their positions.

    The values of the loops around, the tile's first value and its size are the parameters
    `around`, `first` and `size` of the instances in `domains`. The tile loop's function has its
    values, for which `c v + ... >= 0`, between the bounds in `limits`.
    """

    around: tuple[str, ...]
    first: str
    size: str
    limits: tuple[isl.Constraint, ...]
    domains: Mapping[str, isl.Set]
    context: isl.Set


def size_parameter(name: str) -> str:
    """The isl parameter for a tile size: no name of a program has a space in it."""
    return f"size {name}"


def collapse(tree: Tree, domains: Mapping[str, isl.Set]) -> Collapsed:
    """The tree without its run-time tile loops."""
    result = Collapsed(dict(domains))
    result.tree = _collapse(tree, (), result)
    return result


def _collapse(tree: Tree, outer: tuple[Loop, ...], result: Collapsed) -> Tree:
    match tree:
        case Leaf():
            return tree
        case Sequence(children):
            parts = tuple(_collapse(child, outer, result) for child in children)
            same = all(a is b for a, b in zip(parts, children, strict=True))
            return tree if same else Sequence(parts)
        case Loop(run_time_size=None):
            body = _collapse(tree.body, (*outer, tree), result)
            if body is tree.body:
                return tree
            schedule: dict[str, isl.Aff] = {}
            for name in statements(body):
                if name in tree.schedule:
                    schedule[name] = tree.schedule[name]
                else:
                    space = result.domains[name].get_space()
                    local = isl.LocalSpace.from_space(space)
                    schedule[name] = isl.Aff.var_on_domain(local, _SET, len(outer))
            loop = replace(tree, schedule=schedule, body=body)
            result.originals[id(loop)] = tree
            return loop
        case Loop():
            name = f"tiles of {tree.name} {len(result.tiles)}"
            result.tiles[name] = Tiles(tree, outer)
            parts = (
                outer_schedule(outer, below, result.domains[below]).range()
                for below in statements(tree)
            )
            reached = coalesced(reduce(isl.Set.union, parts))
            result.domains[name] = reached.set_tuple_name(name)
            return Leaf(name)


def tile_inside(tiles: Tiles, domains: Mapping[str, isl.Set], context: isl.Set) -> TileInside:
    """What is inside of the tiles of a loop, given the instances of the statements in `domains`."""
    loop = tiles.loop
    assert loop.run_time_size is not None
    below = {name: domains[name] for name in statements(loop)}
    box = TileBox(loop, tiles.outer, (), below)
    parts = (outer_schedule(tiles.outer, name, domain).range() for name, domain in below.items())
    reached = coalesced(reduce(isl.Set.union, parts))
    around = tuple(f"value {outer.name}" for outer in tiles.outer)
    below, context = restrict_to_tile(box, reached, around)
    first, size = f"first {loop.name}", size_parameter(loop.run_time_size)
    values = reduce(
        isl.Set.union,
        (domain.apply(outer_schedule((loop,), name, domain)) for name, domain in below.items()),
    )
    bounds = limits(values, context)
    context = _with_parameters(context, (first, size))
    for limit in bounds:
        context = context.intersect(_reached(limit, context.get_space(), first, size))
    inside: dict[str, isl.Set] = {}
    for name, domain in below.items():
        domain = _with_parameters(domain, (first, size)).intersect_params(context)
        value = loop.schedule[name].align_params(domain.get_space().params())
        least, most = _between(domain.get_space(), first, size)
        inside[name] = domain.intersect(value.ge_set(least)).intersect(value.le_set(most))
    return TileInside(around, first, size, bounds, inside, context)


def _with_parameters(domain: isl.Set, names: tuple[str, ...]) -> isl.Set:
    for name in names:
        if domain.find_dim_by_name(_PARAM, name) < 0:
            last = domain.dim(_PARAM)
            domain = domain.add_dims(_PARAM, 1).set_dim_name(_PARAM, last, name)
    return domain


def _between(space: isl.Space, first: str, size: str) -> tuple[isl.Aff, isl.Aff]:
    """The least and the largest value in a tile, as functions on a space."""
    local = isl.LocalSpace.from_space(space)
    least, extent = (
        isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, name))
        for name in (first, size)
    )
    return least, least.add(extent).add_constant_val(isl.Val(-1))


def _reached(limit: isl.Constraint, space: isl.Space, first: str, size: str) -> isl.Set:
    """The tiles, of at least one value, that reach to the inner side of a limit."""
    inner = isl.BasicSet.universe(limit.get_space()).add_constraint(limit).to_set()
    inner = inner.align_params(space)
    line = inner.get_space()
    least, most = _between(line, first, size)
    value = isl.Aff.var_on_domain(isl.LocalSpace.from_space(line), _SET, 0)
    end = most if limit.get_coefficient_val(_SET, 0).is_pos() else least
    return inner.intersect(value.eq_set(end)).intersect(most.ge_set(least)).params()
