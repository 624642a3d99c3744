"""Program statistics under a schedule: extents of loops, trip counts, strides.

All figures are averages and upper estimates for choosing between schedules, never for legality.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, takewhile
from math import ceil, prod

import islpy as isl
from xdsl.dialects import memref
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineExpr

from ..polyhedral.arithmetic_widths import Narrowed, narrowed_operations
from ..polyhedral.counting import UncountableError, cardinality, fix_parameters
from ..polyhedral.limited_iterators import limits
from ..polyhedral.rounded_subscripts import is_rounded, moves
from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access, Array, Scop, Statement
from .exact_directions import exact_directions
from .merged_operations import merged_operations
from .relative_work import relative_work

Slope = int | Fraction
"""How much one thing grows with another; an int where it is whole, which is quicker."""

_FAR = 2**60
"""A distance over which the slope of a quasi-affine function is measured: rounding vanishes."""

_LARGEST_TILE = 2**29
"""Denominators of slopes: tiles of more iterations are not recognised."""

LARGEST_MODULUS = 64
"""Of loops over remainders that are recognised as such."""


def bytes_of(element_type: Attribute) -> int:
    """Bytes of one element; `index` has 8, a boolean takes one."""
    if isinstance(element_type, FixedBitwidthType):
        return max(1, element_type.bitwidth // 8)
    return 8


def is_scalar(array: Array) -> bool:
    """Whether an array stands for a scalar of the program, one for each iteration of its loops."""
    return array.is_local and array.scope_depth == len(array.shape)


def memory_order(rank: int, innermost: int | None) -> tuple[int, ...]:
    """The dimensions of an array, outermost first, with the `innermost` one last."""
    return tuple(sorted(range(rank), key=lambda k: k == innermost))


@dataclass(frozen=True)
class ProgramStatistics:
    """A Scop at given sizes; its statements by name.

    `expanded` has the extents of private arrays as they are stored under a schedule, `innermost`
    the dimensions of those along which elements are neighbours, where that is not the last one.
    """

    scop: Scop
    sizes: Mapping[str, int]
    statements: Mapping[str, StatementStatistics]
    expanded: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    innermost: Mapping[str, int] = field(default_factory=dict[str, int])

    def extents(self, array: Array) -> tuple[int, ...]:
        """The shape of an array in elements; 1 for a dimension that storage contracts."""
        known = self.expanded.get(array.name) or self._buffers.get(array.name)
        return known or tuple(map(self._extent, array.shape))

    @cached_property
    def _buffers(self) -> Mapping[str, tuple[int, ...]]:
        """Shapes of planes that transformations have made outside of all loops: what is accessed.

        Such as double buffers. Vectors are taken to be in the caches: footprints count those that
        are read in both directions twice.
        """
        buffers = {
            array.name
            for array in self.scop.arrays
            if len(array.shape) > 1 and not array.scope_depth and set(array.shape) == {None}
        }
        found: dict[str, list[tuple[int, ...]]] = {name: [] for name in buffers}
        for statement in self.statements.values() if buffers else ():
            for access in statement.statement.accesses:
                if access.array.name in buffers:
                    lengths = (
                        subscript_length(row, statement.spans) for row in access.coefficients
                    )
                    found[access.array.name].append(tuple(lengths))
        return {
            name: tuple(map(max, zip(*rows, strict=True))) for name, rows in found.items() if rows
        }

    def order(self, array: Array) -> tuple[int, ...]:
        """The dimensions of an array as they are in memory, outermost first."""
        return memory_order(len(array.shape), self.innermost.get(array.name))

    def pitches(self, array: Array) -> tuple[int, ...]:
        """By how many elements neighbours along each dimension are apart."""
        extents, pitch = self.extents(array), 1
        pitches = [1] * len(extents)
        for position in reversed(self.order(array)):
            pitches[position] = pitch
            pitch *= extents[position]
        return tuple(pitches)

    def bytes(self, array: Array) -> int:
        """The size of an array."""
        return prod(self.extents(array)) * bytes_of(array.element_type)

    def _extent(self, extent: int | str | AffineExpr | None) -> int:
        match extent:
            case None:
                return 1
            case int():
                return extent
            case str():
                return self.sizes.get(extent, 1)
            case _:
                symbols = [self.sizes.get(p.name, 0) for p in self.scop.parameters]
                return max(1, extent.eval([], symbols))


def subscript_length(row: Sequence[int], spans: Sequence[float]) -> int:
    """How many values a subscript takes at most."""
    return ceil(1 + sum(abs(c) * max(0.0, span - 1) for c, span in zip(row, spans, strict=True)))


@dataclass(frozen=True, eq=False)
class StatementStatistics:
    """A statement at given sizes. Iterators are counted from 0, outermost first.

    The subscripts of its `inspected` gathers are compared with the extents ahead of the loops.
    """

    statement: Statement
    sizes: Mapping[str, int]
    inspected: frozenset[memref.LoadOp] = frozenset()
    _counts: dict[frozenset[int], float] = field(default_factory=dict[frozenset[int], float])
    _slopes: dict[int, tuple[Mapping[str, isl.Aff], tuple[Slope, ...]]] = field(
        default_factory=dict[int, tuple[Mapping[str, isl.Aff], tuple[Slope, ...]]]
    )
    _directions: dict[tuple[int, ...], Mapping[int, tuple[Slope, ...]]] = field(
        default_factory=dict[tuple[int, ...], Mapping[int, tuple[Slope, ...]]]
    )
    _trips: dict[tuple[int, ...], tuple[float, ...]] = field(
        default_factory=dict[tuple[int, ...], tuple[float, ...]]
    )

    @cached_property
    def points(self) -> isl.Set:
        """The instances at these sizes."""
        return fix_parameters(self.statement.domain, self.sizes)

    @cached_property
    def spans(self) -> tuple[float, ...]:
        """How many values each iterator takes, on average, for given values of those before it."""
        return self._spans_in(tuple(range(len(self.statement.loops))))

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """By how much each iterator grows from one value to the next, given those before it.

        Footprints do not know: they take values for neighbours.
        """
        depth = len(self.statement.loops)
        known = (
            self.statement.domain.project_out(isl.dim_type.set, d + 1, depth - d - 1)
            for d in range(depth)
        )
        return tuple(max(1, each.get_stride(d).to_python()) for d, each in enumerate(known))

    @cached_property
    def narrowed(self) -> Mapping[Operation, Narrowed]:
        """The integer operations that are computed in fewer bits than their type has."""
        return narrowed_operations(self.statement.body)

    @cached_property
    def gathers(self) -> tuple[memref.LoadOp, ...]:
        """The loads whose subscripts depend on data."""
        return tuple(op for op in self.statement.body if isinstance(op, memref.LoadOp))

    @cached_property
    def merged(self) -> frozenset[Operation]:
        """The operations that are computed as a part of another one."""
        return merged_operations(self.statement)

    @cached_property
    def instances(self) -> float:
        """How many instances run."""
        return prod(self.spans)

    @property
    def work(self) -> float:
        """As many instances of usual statements take as long."""
        return self.instances * relative_work(self.statement)

    def _spans_in(self, order: Sequence[int]) -> tuple[float, ...]:
        """As `spans`, with iterators one after the other in this order."""
        counts = [self.count(frozenset(order[:depth])) for depth in range(len(order) + 1)]
        found = [inner / outer if outer else 0.0 for outer, inner in pairwise(counts)]
        return tuple(found[order.index(position)] for position in range(len(order)))

    def _spans_under(self, loops: Sequence[Loop], used: Collection[int] = ()) -> tuple[float, ...]:
        """Spans for loops (outermost first).

        Where iterators are in blocks together, as behind a split by a tile loop, the outer loops'
        iterators come first, so that the others only have what is left of them in a block. The
        `used` ones come next: what they depend on takes all of its values.
        """
        if not used and not self._is_in_blocks:
            return self.spans
        rows = [row for row in map(self.slopes, loops) if row]
        outer = [max(range(len(row)), key=lambda d: abs(row[d])) for row in rows]
        known = {*outer, *used}
        if not self._is_in_blocks and all(self.limits.get(k, known) <= known for k in used):
            return self.spans
        order = (*outer, *used, *range(len(self.statement.loops)))
        return self._spans_in(tuple(dict.fromkeys(order)))

    @cached_property
    def _is_in_blocks(self) -> bool:
        return any(
            basic.dim(isl.dim_type.div)
            for k in range(self.statement.domain.n_basic_set())
            for basic in [self.statement.domain.get_basic_set_list().get_at(k)]
        )

    def count(self, kept: frozenset[int]) -> float:
        """How many values some of the iterators take together."""
        found = self._counts.get(kept)
        if found is None:
            points = self.points
            for position in reversed(range(len(self.statement.loops))):
                if position not in kept:
                    points = points.project_out(isl.dim_type.set, position, 1)
            points = points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))
            try:
                found = float(cardinality(points))
            except UncountableError:
                found = float(prod(self._width(points, position) for position in range(len(kept))))
            self._counts[kept] = found
        return found

    def _width(self, points: isl.Set, position: int) -> int:
        if points.is_empty():
            return 0
        low, high = points.dim_min_val(position), points.dim_max_val(position)
        return high.to_python() - low.to_python() + 1 if low.is_int() and high.is_int() else 1000

    def slopes(self, loop: Loop) -> tuple[Slope, ...]:
        """By how much the loop's value grows with each iterator: 1/32 for a tile loop of 32."""
        found = self._slopes.get(id(loop.schedule))
        if found is None:
            # The mapping is kept as well, so that its id stays its own.
            found = loop.schedule, self._measure(loop.schedule[self.statement.name])
            self._slopes[id(loop.schedule)] = found
        return found[1]

    def _measure(self, function: isl.Aff) -> tuple[Slope, ...]:
        depth = len(self.statement.loops)
        origin = self._value(function, [0] * depth)
        steps = ([_FAR * (position == d) for position in range(depth)] for d in range(depth))
        return tuple(
            _whole(
                Fraction(self._value(function, step) - origin, _FAR).limit_denominator(
                    _LARGEST_TILE
                )
            )
            for step in steps
        )

    def _value(self, function: isl.Aff, values: Sequence[int]) -> int:
        point = isl.Point.zero(function.get_domain_space())
        for position, value in enumerate(values):
            if value:
                place = isl.Val.int_from_si(point.get_ctx(), value)
                point = point.set_coordinate_val(isl.dim_type.set, position, place)
        return function.eval(point).to_python()

    def _modulus(self, loop: Loop) -> tuple[int, int] | None:
        """The iterator and the modulus of a loop over remainders, whose slopes are all 0."""
        if any(self.slopes(loop)):
            return None
        function, depth = loop.schedule[self.statement.name], len(self.statement.loops)
        first = self._value(function, [0] * depth)
        for position in range(depth):
            values = (
                self._value(function, [step * (position == d) for d in range(depth)])
                for step in range(1, LARGEST_MODULUS + 1)
            )
            moving = list(takewhile(lambda value: value != first, values))
            if moving:
                return position, len(moving) + 1
        return None

    def own_iterators(self, access: Access) -> tuple[int, ...]:
        """The iterators of an access, where it matters which of them others depend on."""
        if not self.limits and not self._is_in_blocks:
            return ()
        rows = access.coefficients
        return tuple(k for k in range(len(self.statement.loops)) if any(row[k] for row in rows))

    def spans_inside(self, outer: Sequence[Loop], used: Sequence[int] = ()) -> tuple[float, ...]:
        """The spans that are left for the loops inside of `outer` (outermost first).

        Those of `used` iterators (`own_iterators`) are as long as that of an access takes them. The
        lanes of a vector loop run together: their share of its span is left.
        """
        spans = list(self._spans_under(outer, used))
        for loop in outer:
            self._narrow(spans, loop, loop.vector or 1)
        return tuple(spans)

    def trips(self, loops: Sequence[Loop]) -> tuple[float, ...]:
        """The average number of iterations of each of the loops (outermost first)."""
        key = tuple(id(loop.schedule) for loop in loops)
        found = self._trips.get(key)
        if found is None:
            spans = list(self._spans_under(loops))
            found = self._trips[key] = tuple(self._narrow(spans, loop) for loop in loops)
        return found

    def _narrow(self, spans: list[float], loop: Loop, lanes: int = 1) -> float:
        """Takes a loop's share from the spans; the result is the number of its iterations."""
        if (found := self._modulus(loop)) is not None:
            position, modulus = found
            trips = min(spans[position], float(modulus))
            spans[position] /= max(1.0, trips)
            return max(1.0, trips)
        slopes = self.slopes(loop)
        gains = [abs(slope) * span for slope, span in zip(slopes, spans, strict=True)]
        if not gains or max(gains) <= 0:
            return 1.0
        position = max(range(len(gains)), key=lambda d: gains[d])
        left = min(spans[position], float(lanes / abs(slopes[position])))
        trips = spans[position] / left if left else 1.0
        spans[position] = left
        return max(1.0, trips)

    @cached_property
    def limits(self) -> Mapping[int, frozenset[int]]:
        """The iterators that depend on others, by conditions or bounds, and on which."""
        return limits(self.points)

    def iterator_of(self, loop: Loop) -> int | None:
        """The iterator that a loop is, as one around the statement as written; None for others."""
        slopes = self.slopes(loop)
        is_one = sum(map(bool, slopes)) == 1 and max(slopes) == 1
        return slopes.index(1) if is_one else None

    def direction(self, loops: Sequence[Loop], loop: Loop) -> tuple[Slope, ...] | None:
        """By how much the iterators grow when `loop` alone of `loops` goes to its next value.

        None where the loops do not determine the iterators, and for tile loops. Where several
        iterators move, as in skewed loops, or the loop is scaled, its value grows by 1.
        """
        key = tuple(id(other.schedule) for other in loops)
        found = self._directions.get(key)
        if found is None:
            found = self._directions[key] = self._invert(loops)
        return found.get(id(loop.schedule))

    def rewrites(self, loops: Sequence[Loop], loop: Loop) -> bool:
        """Whether all iterations of `loop` alone of `loops` write the same elements."""
        direction = self.direction(loops, loop)
        return direction is not None and not any(
            any(subscript_steps(write, direction)) for write in self.statement.writes
        )

    def motion(self, loops: Sequence[Loop], loop: Loop) -> tuple[Slope, ...] | None:
        """The direction of a loop; that of a tile loop is a tile along its one iterator."""
        slopes = self.slopes(loop)
        moving = [position for position, slope in enumerate(slopes) if slope]
        if len(moving) != 1 or slopes[moving[0]].denominator == 1:
            return self.direction(loops, loop)
        return tuple(_whole(1 / Fraction(slope)) if slope else 0 for slope in slopes)

    def _invert(self, loops: Sequence[Loop]) -> Mapping[int, tuple[Slope, ...]]:
        """The directions of all loops, by the identities of their schedules."""
        if any(self._modulus(loop) for loop in loops):
            return exact_directions(loops, self.statement, self.sizes)
        members = [
            loop for loop in loops if all(slope.denominator == 1 for slope in self.slopes(loop))
        ]
        rows = [self.slopes(loop) for loop in members]
        # An iterator of one value needs no loop, and has none behind affine scheduling.
        still = [k for k in self._constants if not any(row[k] for row in map(self.slopes, loops))]
        depth = len(self.statement.loops)
        units = [tuple(int(d == k) for d in range(depth)) for k in still]
        found: dict[int, tuple[Slope, ...]] = {}
        for position, loop in enumerate(members):
            unit = [int(position == other) for other in range(len(members) + len(units))]
            direction = _solve([*rows, *units], unit)
            if direction is not None:
                found[id(loop.schedule)] = self._stepped(direction)
        return found

    @cached_property
    def _constants(self) -> tuple[int, ...]:
        """The iterators that have one value at these sizes."""
        points = self.points
        lows_and_highs = (
            (k, points.dim_min_val(k), points.dim_max_val(k))
            for k in range(points.dim(isl.dim_type.set))
        )
        return tuple(k for k, low, high in lows_and_highs if low.is_int() and low.eq(high))

    def _stepped(self, direction: tuple[Slope, ...]) -> tuple[Slope, ...]:
        moving = [d for d, slope in enumerate(direction) if slope]
        if len(moving) != 1 or self.steps[moving[0]] == 1:
            return direction
        return tuple(slope * self.steps[moving[0]] for slope in direction)

    def stride(
        self, access: Access, direction: Sequence[Slope], statistics: ProgramStatistics
    ) -> int:
        """By how many elements an access moves along a direction of the iterators.

        Where subscripts round, that is the first step from 0 on.
        """
        steps = first_steps(access, direction)
        extents, pitches = statistics.extents(access.array), statistics.pitches(access.array)
        total: Slope = 0
        for position, step in enumerate(steps):
            if access.array.shape[position] is not None or extents[position] > 1:
                total += step * pitches[position]
        return int(total) if total.denominator == 1 else 1 << 20


def subscript_steps(access: Access, direction: Sequence[Slope]) -> list[Slope]:
    """By how much each subscript of an access grows along a direction of the iterators."""
    return [sum(c * d for c, d in zip(row, direction, strict=True)) for row in access.coefficients]


def first_steps(access: Access, direction: Sequence[Slope]) -> Sequence[Slope]:
    """`subscript_steps`, exact from 0 on where subscripts round; but not in buffers of tiles."""
    step = rounded_step(access, direction)
    if step is None:
        return subscript_steps(access, direction)
    values = access.map.eval(step, [0] * access.map.num_symbols)
    return [after - before for after, before in zip(values, access.constants, strict=True)]


def is_moved(access: Access, direction: Sequence[Slope], trips: float) -> bool:
    """Whether an access is at different places in so many iterations of a loop."""
    step = rounded_step(access, direction)
    return (
        any(subscript_steps(access, direction))
        if step is None
        else moves(access.map, step, ceil(trips))
    )


def rounded_step(access: Access, direction: Sequence[Slope]) -> tuple[int, ...] | None:
    """The direction in whole steps, for an access with quotients or remainders; else None."""
    if access.array.is_local or not is_rounded(access.map):
        return None
    steps = tuple(each for each in direction if isinstance(each, int))
    return steps if len(steps) == len(direction) else None


def _whole(value: Fraction) -> Slope:
    return value.numerator if value.denominator == 1 else value


def _solve(rows: Sequence[Sequence[Slope]], target: Sequence[Slope]) -> tuple[Slope, ...] | None:
    """The x with `rows @ x = target`; None unless there is exactly one."""
    unknowns = len(rows[0]) if rows else 0
    matrix = [[*row, value] for row, value in zip(rows, target, strict=True)]
    pivots: list[int] = []
    for column in range(unknowns):
        pivot = next((r for r in range(len(pivots), len(matrix)) if matrix[r][column]), None)
        if pivot is None:
            return None
        place = len(pivots)
        matrix[place], matrix[pivot] = matrix[pivot], matrix[place]
        lead = matrix[place][column]
        matrix[place] = [_whole(Fraction(value) / lead) for value in matrix[place]]
        for other in range(len(matrix)):
            if other != place and matrix[other][column]:
                factor = matrix[other][column]
                matrix[other] = [
                    a - factor * b for a, b in zip(matrix[other], matrix[place], strict=True)
                ]
        pivots.append(column)
    if any(row[-1] for row in matrix[len(pivots) :]):
        return None
    return tuple(_whole(Fraction(matrix[place][-1])) for place in range(unknowns))
