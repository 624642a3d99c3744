"""Planes of iteration spaces: two loops of a statement, in a window, all others held.

Instances are looked at on a grid: every one, or every n-th where tiles are large, so that some
tiles are in the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import islpy as isl
import numpy as np
from numpy.typing import NDArray
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)

from ..passes.polyhedral.aff_expression import aff_expression
from ..passes.polyhedral.counting import fix_parameters
from ..passes.polyhedral.schedule_tree import Loop, Tree, loops_around
from ..passes.polyhedral.scop import Scop, Statement

MOST_CELLS = 44
"""Cells along each side of a plane."""

SEEN_TILES = 1.5
"""Tiles along each side that are to be seen at least, if the domain has as many."""

NOMINAL_TILE = 4
"""The size that tiles have in pictures where calls give it."""

NOMINAL_SIZE = 24
"""The value of sizes that are not known, in pictures."""

Grid = NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """A loop of a statement: its position, its name, and the values at which it is looked at."""

    position: int
    name: str
    values: tuple[int, ...]

    @property
    def step(self) -> int:
        """The distance between two values."""
        return self.values[1] - self.values[0] if len(self.values) > 1 else 1


@dataclass(frozen=True, eq=False)
class Plane:
    """A window of instances of a statement; `columns` run along the inner of two loops.

    `rows` is None for a statement in one loop. `held` are the values of the other loops, `present`
    says which cells of the grid, rows x columns, are instances.
    """

    statement: Statement
    columns: Axis
    rows: Axis | None
    held: Mapping[str, int]
    sizes: Mapping[str, int]
    present: NDArray[np.bool_]

    @property
    def title(self) -> str:
        """Which statement, and which loops."""
        axes = [each.name for each in (self.rows, self.columns) if each is not None]
        return f"{self.statement.name}: {', '.join(axes)}"

    def point(self, row: int, column: int) -> tuple[int, ...]:
        """The values of all loops at a cell."""
        at = {self.columns.name: self.columns.values[column], **self.held}
        if self.rows is not None:
            at[self.rows.name] = self.rows.values[row]
        return tuple(at[name] for name in self.statement.loops)

    def values(self, expression: AffineExpr, symbols: Mapping[str, int]) -> Grid:
        """The values of an affine function of the loops (dims) and sizes (symbols) at all cells."""
        height, width = self.present.shape
        axes = {self.columns.name: np.array(self.columns.values)[None, :]}
        if self.rows is not None:
            axes[self.rows.name] = np.array(self.rows.values)[:, None]
        dims = [np.asarray(axes.get(n, self.held.get(n, 0))) for n in self.statement.loops]
        ordered = [self.sizes[name] for name in symbols]
        found = expression.eval(dims, ordered)  # pyright: ignore[reportArgumentType]
        return np.broadcast_to(np.asarray(found), (height, width))


def loop_values(scop: Scop, tree: Tree, plane: Plane) -> dict[str, Grid]:
    """The value of each loop around the statement, outermost first, at each cell."""
    symbols = {parameter.name: number for number, parameter in enumerate(scop.parameters)}
    return {
        loop.name: plane.values(loop_function(loop, plane.statement.name, symbols), symbols)
        for loop in loops_around(tree, plane.statement.name)
    }


def loop_function(loop: Loop, statement: str, symbols: Mapping[str, int]) -> AffineExpr:
    """The function of a loop's values; tiles whose size calls give are `NOMINAL_TILE` large."""
    function = aff_expression(loop.schedule[statement], symbols)
    return function if loop.run_time_size is None else function // NOMINAL_TILE


def order(values: Mapping[str, Grid], present: NDArray[np.bool_]) -> Grid:
    """The position of each instance among those of the plane, as loops order them; -1 elsewhere."""
    rank = np.full(present.shape, -1, dtype=np.int64)
    keys = [grid[present] for grid in values.values()]
    if not present.any():
        return rank
    found = np.lexsort(keys[::-1]) if keys else np.arange(int(present.sum()))
    positions = np.empty_like(found)
    positions[found] = np.arange(len(found))
    rank[present] = positions
    return rank


def groups(grids: list[Grid], present: NDArray[np.bool_]) -> Grid:
    """The number, in their order, of equal tuples of values; -1 where there is no instance."""
    result = np.full(present.shape, -1, dtype=np.int64)
    if not present.any():
        return result
    if not grids:
        result[present] = 0
        return result
    tuples = np.stack([grid[present] for grid in grids], axis=1)
    _, numbers = np.unique(tuples, axis=0, return_inverse=True)
    result[present] = numbers.reshape(-1)
    return result


def planes(
    scop: Scop, statement: Statement, tree: Tree, sizes: Mapping[str, int], most: int
) -> list[Plane]:
    """The planes in which most is to be seen, with tiled loops first; none without loops."""
    depth = len(statement.loops)
    if depth == 0:
        return []
    sizes = picture_sizes(scop, sizes)
    domain = fix_parameters(statement.domain, sizes)
    domain = domain.project_out(isl.dim_type.param, 0, domain.dim(isl.dim_type.param))
    if domain.is_empty():
        return []
    tiles = _tile_sizes(scop, tree, statement)
    if depth == 1:
        found = [_plane(statement, domain, tiles, None, 0, sizes)]
    else:
        pairs = sorted(
            combinations(range(depth), 2),
            key=lambda pair: (-sum(tiles[each] > 1 for each in pair), pair),
        )
        found = [_plane(statement, domain, tiles, *pair, sizes) for pair in pairs[: 2 * most]]
    shown = [plane for plane in found if plane is not None and plane.present.any()]
    return shown[:most]


def picture_sizes(scop: Scop, sizes: Mapping[str, int]) -> dict[str, int]:
    """A value for each parameter: those that are known, else some with which there is something."""
    known = {p.name: sizes[p.name] for p in scop.parameters if p.name in sizes}
    unknown = [p.name for p in scop.parameters if p.name not in known]
    for value in (NOMINAL_SIZE, 32, 64, 8, 1):
        tried = {**known, **dict.fromkeys(unknown, value)}
        if not fix_parameters(scop.context, tried).is_empty():
            return {p.name: tried[p.name] for p in scop.parameters}
    context = fix_parameters(scop.context, known)
    point = context.sample_point()
    return {
        p.name: point.get_coordinate_val(isl.dim_type.param, number).to_python()
        for number, p in enumerate(scop.parameters)
    }


def tile_divisors(scop: Scop, loop: Loop, statement: str) -> dict[int, int]:
    """The sizes by which a loop divides loops of a statement: those of its tiles, by position."""
    symbols = {parameter.name: number for number, parameter in enumerate(scop.parameters)}
    found: dict[int, int] = {}
    for part in loop_function(loop, statement, symbols).dfs():
        match part:
            case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, lhs, AffineConstantExpr(size)):
                for position in lhs.used_dims():
                    found[position] = max(size, found.get(position, 1))
            case _:
                pass
    return found


def counts_tiles(scop: Scop, loop: Loop, statement: str) -> bool:
    """Whether a loop goes from tile to tile: instances of a tile have one value of it."""
    symbols = {parameter.name: number for number, parameter in enumerate(scop.parameters)}
    is_constant = _is_constant_in_tiles(loop_function(loop, statement, symbols))
    return is_constant and bool(tile_divisors(scop, loop, statement))


def _is_constant_in_tiles(function: AffineExpr) -> bool:
    match function:
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv):
            return True
        case AffineBinaryOpExpr(_, lhs, rhs):
            return _is_constant_in_tiles(lhs) and _is_constant_in_tiles(rhs)
        case _:
            return not function.used_dims()


def _tile_sizes(scop: Scop, tree: Tree, statement: Statement) -> list[int]:
    """The largest tile along each loop of a statement; 1 where it is not tiled."""
    sizes = [1] * len(statement.loops)
    for loop in loops_around(tree, statement.name):
        for position, size in tile_divisors(scop, loop, statement.name).items():
            sizes[position] = max(sizes[position], size)
    return sizes


def _window(domain: isl.Set, position: int, tile: int) -> tuple[int, ...]:
    """The values of a loop that are looked at."""
    low, high = (
        bound.to_python() if bound.is_int() else 0
        for bound in (domain.dim_min_val(position), domain.dim_max_val(position))
    )
    step = max(1, int(SEEN_TILES * tile / MOST_CELLS))
    step = min(step, max(1, (high - low) // 4))
    return tuple(range(low, min(high, low + step * MOST_CELLS - 1) + 1, step))


def _plane(
    statement: Statement,
    domain: isl.Set,
    tiles: list[int],
    outer: int | None,
    inner: int,
    sizes: Mapping[str, int],
) -> Plane | None:
    """The plane of two loops, with the others in the middle of their windows, if it has points."""
    held: dict[int, int] = {}
    cut = domain
    for position, tile in enumerate(tiles):
        if position in (outer, inner):
            continue
        for value in _candidates(_window(cut, position, tile)):
            tried = cut.fix_val(isl.dim_type.set, position, isl.Val(value))
            if not tried.is_empty():
                cut, held[position] = tried, value
                break
        else:
            return None
    columns = _window(cut, inner, tiles[inner])
    rows = (0,) if outer is None else _window(cut, outer, tiles[outer])
    names = statement.loops
    axes = (
        None if outer is None else Axis(outer, names[outer], rows),
        Axis(inner, names[inner], columns),
    )
    present = np.zeros((len(rows), len(columns)), dtype=np.bool_)
    for row, column in _cells(domain, held, *axes):
        present[row, column] = True
    names = statement.loops
    return Plane(
        statement,
        axes[1],
        axes[0],
        {names[position]: value for position, value in held.items()},
        sizes,
        present,
    )


def _candidates(window: tuple[int, ...]) -> Iterator[int]:
    """Values of a loop to hold it at: the middle one, then those at both ends."""
    yield from dict.fromkeys((window[len(window) // 2], window[0], window[-1], *window))


def _cells(
    domain: isl.Set, held: Mapping[int, int], rows: Axis | None, columns: Axis
) -> list[tuple[int, int]]:
    """The cells, as row and column, at which a domain has instances."""
    depth = domain.dim(isl.dim_type.set)
    texts = [str(held.get(position, 0)) for position in range(depth)]
    bounds = [f"0 <= c < {len(columns.values)}"]
    for axis, name in ((rows, "r"), (columns, "c")):
        if axis is not None:
            texts[axis.position] = f"{axis.values[0]} + {axis.step}{name}"
    bounds.append("r = 0" if rows is None else f"0 <= r < {len(rows.values)}")
    cells = domain.reset_tuple_id().preimage_multi_aff(
        isl.MultiAff(f"{{ [r, c] -> [{', '.join(texts)}] }}")
    )
    found: list[tuple[int, int]] = []

    def add(point: isl.Point) -> None:
        row, column = (
            point.get_coordinate_val(isl.dim_type.set, position).to_python() for position in (0, 1)
        )
        found.append((row, column))

    cells.intersect(isl.Set(f"{{ [r, c] : {' and '.join(bounds)} }}")).foreach_point(add)
    return found
