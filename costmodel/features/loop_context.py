"""Loop context of a statement: trip counts, strides, footprints under a schedule's loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import copysign
from typing import NamedTuple

from ...passes.machine.target_files import reference_machine
from ...passes.polyhedral.schedule_tree import Loop
from ...support.cached_property import cached_property
from .linear import LinearForm, directions
from .loop_footprints import Footprint, footprints
from .skewed import iterations
from .statements import StatementProfile

_CACHE_LINE = reference_machine().cache_line

_SHORT = 300
"""Instructions that LLVM lets a loop become when it unrolls it."""

_SHORTEST_VECTORS = 8
"""Iterations from which a loop is vectorised before it is unrolled."""

_COPIES = 128
"""Copies of a body that the code generator makes at most."""

_FEW_TILES = 2.0

_FAR = float(1 << 20)
"""Elements that a tile loop over a sum of iterators moves by."""

_MEMORY = 20_000

_SHORT_VECTORS = 4
_SHORT_BODY = 64


@dataclass(frozen=True, eq=False)
class LoopContext:
    """A statement and the loops around it, outermost first.

    `forms` are the functions of the loops, `tiles` the positions of the tile loops of point loops,
    `trips` the average numbers of their iterations (of vectors, for a vector loop), `spans` those
    of values per iterator that are left inside the first 0, 1, 2 ... loops, `values` the same
    numbers as `trips` before vectors. `reads_stored` says whether it reads an array that it or
    another statement of its nest stores to. `footprint` is what it touches by itself, `remembered`
    is what others have found out.
    """

    profile: StatementProfile
    loops: tuple[Loop, ...]
    forms: tuple[LinearForm, ...]
    tiles: tuple[int | None, ...]
    trips: tuple[float, ...]
    values: tuple[float, ...]
    spans: tuple[tuple[float, ...], ...]
    reads_stored: bool
    footprint: Footprint
    remembered: dict[object, object] = field(default_factory=dict[object, object])

    @cached_property
    def vector(self) -> int | None:
        """The position of the vector loop; None, too, where its lanes would run other loops."""
        position = next((n for n, loop in enumerate(self.loops) if loop.vector is not None), None)
        return None if position is None or self._diverges(position) else position

    def _diverges(self, position: int) -> bool:
        """Whether bounds of loops inside depend on a loop; in full tiles they do not."""
        if not self.profile.links:
            return False
        own = [d for d, _ in self.forms[position].terms]
        return any(
            (d, other) in self.profile.links
            for inner in range(position + 1, len(self.loops))
            if self.tiles[position] is None or self.tiles[inner] is None
            for d in own
            for other, _ in self.forms[inner].terms
        )

    @cached_property
    def fully_unrolled(self) -> tuple[bool, ...]:
        """Which loops are gone: unrolled fully, by request or because they are short.

        LLVM unrolls inner loops of few iterations, if their number is constant, before it looks for
        loops to make vectors of.
        """
        result = [
            loop.unroll is not None
            and loop.vector is None
            and self.trips[n] <= (loop.unroll or _COPIES)
            and self.is_constant(n)
            for n, loop in enumerate(self.loops)
        ]
        length = self.profile.instructions
        for position in range(len(self.loops) - 1, -1, -1):
            loop, trips = self.loops[position], self.trips[position]
            length *= trips
            if result[position]:
                continue
            if loop.vector is not None:
                result[position] = trips <= _SHORT_VECTORS
            elif not loop.parallel and length <= _SHORT and self.is_constant(position):
                result[position] = not self._vectors_first(position)
            if not result[position]:
                break
        return tuple(result)

    def _vectors_first(self, position: int) -> bool:
        """Whether LLVM is told to vectorise a loop before unrolling it.

        That is what `lowering.llvm.short_loops` looks at, as far as this statement tells, and
        whether or not the iterations fill whole vectors.
        """
        loop = self.loops[position]
        if position < len(self.loops) - 1 or loop.unroll is not None:
            return False
        if self.values[position] < _SHORTEST_VECTORS or position in self.carriers:
            return False
        moved = [abs(step) for step in self.steps[position]]
        around = self.steps[position - 1] if position else moved
        return all(
            step == 1.0 and other != 0.0 if access.is_write else step <= 1.0
            for access, step, other in zip(self.profile.accesses, moved, around, strict=True)
        )

    def is_constant(self, position: int) -> bool:
        """Whether a loop has the same number of iterations every time."""
        form, tile, profile = self.forms[position], self.tiles[position], self.profile
        if form.skewed and tile is None:
            return False
        tiles, outer = 1.0, tile
        while outer is not None:
            tiles *= self.trips[outer]
            outer = self.tiles[outer]
        if tiles >= _FEW_TILES:
            # Full tiles are apart from the others.
            return True
        bounded = {d for link in profile.links for d in link}
        own = {d for d, _ in form.terms}
        # What is left over of tiles around is not apart.
        return all(
            d not in bounded or self.spans[0][d] > profile.high[d] - profile.low[d] + 0.99
            for d in own
        ) and all(
            abs(self.trips[n] - round(self.trips[n])) < 1e-9
            for n, around in enumerate(self.forms[:position])
            if around.rounds and any(d in own for d, _ in around.terms)
        )

    @cached_property
    def innermost(self) -> int | None:
        """The position of the innermost loop that is left when short loops are unrolled."""
        return next(
            (n for n in range(len(self.loops) - 1, -1, -1) if not self.fully_unrolled[n]), None
        )

    @cached_property
    def copies(self) -> tuple[float, ...]:
        """How often the body stands in each loop."""
        return tuple(
            trips if gone else min(float(loop.unroll or 1), trips)
            for loop, trips, gone in zip(self.loops, self.trips, self.fully_unrolled, strict=True)
        )

    @cached_property
    def fork(self) -> int | None:
        """The position of the outermost loop that several threads share; one iteration is none."""
        return next(
            (n for n, loop in enumerate(self.loops) if loop.parallel and self.trips[n] > 1.01),
            None,
        )

    @cached_property
    def repeats(self) -> float:
        """How often the same is done again: iterations of inner loops that change nothing.

        LLVM leaves all but one of them out where at most short loops are inside.
        """
        if self.profile.carried or self.reads_stored or any(form.skewed for form in self.forms):
            return 1.0
        result = inside = 1.0
        for position in range(len(self.loops) - 1, -1, -1):
            if not any(self.steps[position]) and self.trips[position] > 1:
                result *= self.trips[position]
            else:
                inside *= self.values[position]
                if inside > _SHORT_BODY:
                    break
        return result

    @cached_property
    def ragged(self) -> float:
        """The part of the iterations that are outside of full tiles, as bounds cut tiles slantwise.

        A loop inside of a tile loop, whose bounds depend on a point loop, runs over what any of the
        points needs: in the first and last iterations some have nothing to do. Where it is cut into
        tiles itself, that is said of its tile loop.
        """
        worst = 0.0
        for point, tile in enumerate(self.tiles):
            if tile is None:
                continue
            for other in range(tile + 1, len(self.loops)):
                if self.tiles[other] is None:
                    moved = self.values[point] * self._pull(point, other)
                    worst = max(worst, min(1.0, moved / self.values[other]))
        return worst

    def _pull(self, point: int, other: int) -> float:
        """By how much the bounds of a loop move with a step of a point loop; 0 if they do not."""
        return max(
            (
                slope
                for d, _ in self.forms[point].terms
                for own, slope in self.forms[other].terms
                if (d, own) in self.profile.links or (own, d) in self.profile.links
            ),
            default=0.0,
        )

    @cached_property
    def directions(self) -> tuple[tuple[float, ...] | None, ...]:
        """How the iterators grow with a step of each loop; None for tile loops."""
        members = [n for n, form in enumerate(self.forms) if not form.rounds]
        found: list[tuple[float, ...] | None] = [None] * len(self.loops)
        if members:
            rows = tuple(self.forms[n].slopes for n in members)
            for position, direction in zip(members, directions(rows), strict=True):
                found[position] = direction
        return tuple(found)

    @cached_property
    def steps(self) -> tuple[tuple[float, ...], ...]:
        """Per loop, by how many elements each access moves with a step.

        A step of a tile loop goes past all that is inside; one over sums of iterators goes far.
        """
        columns = self.profile.strides
        still = (0.0,) * len(self.profile.accesses)
        result: list[tuple[float, ...]] = []
        for position, form in enumerate(self.forms):
            direction = self.directions[position]
            if direction is None and len(form.terms) == 1:
                d, _ = form.terms[0]
                length = copysign(self.spans[position + 1][d], form.slopes[d])
                result.append(tuple([length * stride for stride in columns[d]]))
                continue
            if direction is None:
                moved = [columns[d] for d, _ in form.terms] or [still]
                far = [_FAR * any(strides) for strides in zip(*moved, strict=True)]
                result.append(tuple(far))
                continue
            used = [(columns[d], move) for d, move in enumerate(direction) if move]
            if len(used) == 1:
                column, move = used[0]
                result.append(
                    column if move == 1.0 else tuple([stride * move for stride in column])
                )
            else:
                result.append(
                    tuple([sum([column[n] * m for column, m in used]) for n in range(len(still))])
                )
        return tuple(result)

    @cached_property
    def jumps(self) -> float:
        """How often an instance reads or writes a line that does not follow the last one.

        Unrolled iterations, as in a register tile, are streams beside each other.
        """
        total = 0.0
        for number, access in enumerate(self.profile.accesses):
            run, reach = 1.0, 1.0
            for position in range(len(self.loops) - 1, -1, -1):
                if self.values[position] <= 1.0:
                    continue
                step = abs(self.steps[position][number])
                if step > max(reach, _CACHE_LINE / access.size / 2) * 1.01:
                    if self.fully_unrolled[position]:
                        continue
                    break
                run *= self.values[position]
                reach += step * (self.values[position] - 1.0)
            else:
                continue
            total += 1.0 / run
        return total

    @cached_property
    def carriers(self) -> dict[int, tuple[float, bool]]:
        """The loops that hand results from one iteration to another, by position.

        Of each the smallest distance in iterations, and whether all results are those of a sum.
        """
        found: dict[int, tuple[float, bool]] = {}
        for carried in self.profile.carried:
            for position, form in enumerate(self.forms):
                step = sum(s * d for s, d in zip(form.slopes, carried.distance, strict=True))
                if form.rounds and abs(step) > 1e-9:
                    # A tile hands on to the next what its last iterations compute.
                    known = found.get(position, (1.0, True))[1]
                    found[position] = (1.0, known and carried.reduction)
                elif abs(step) > 1e-9:
                    distance, is_sum = found.get(position, (abs(step), True))
                    found[position] = (
                        min(distance, abs(step)),
                        is_sum and carried.reduction,
                    )
                    break
        return found

    def overwrites(self, earlier: LoopContext) -> bool:
        """Whether it stores to all that another statement in the same innermost loop stores to."""
        if self.profile.instances < earlier.profile.instances or [
            form.constant for form in self.forms
        ] != [form.constant for form in earlier.forms]:
            return False
        return _stores(earlier) <= _stores(self)

    @cached_property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """The extreme values of each loop, over the box around the domain."""
        profile = self.profile
        result: list[tuple[float, float]] = []
        for form in self.forms:
            low = high = form.constant
            for slope, least, most in zip(form.slopes, profile.low, profile.high, strict=True):
                low += slope * (least if slope > 0 else most)
                high += slope * (most if slope > 0 else least)
            result.append((low, high))
        return tuple(result)


class Query(NamedTuple):
    """A statement and its loops, outermost first, with their schedule functions.

    `kept` tells profiles of the same statement apart, `stored` are the arrays that its nest stores
    to.
    """

    profile: StatementProfile
    kept: object
    loops: tuple[Loop, ...]
    forms: tuple[LinearForm, ...]
    stored: frozenset[int]


class LoopContexts:
    """Cache of loop contexts: schedules share most of them."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], LoopContext] = {}

    def of(self, queries: Sequence[Query]) -> list[LoopContext]:
        """What is known of statements under their loops; what is new is found out together."""
        if len(self._known) > _MEMORY:
            self._known.clear()
        plans = [_plan(query) for query in queries]
        new: dict[int, dict[tuple[object, ...], _Plan]] = {}
        for plan in plans:
            if plan.key not in self._known:
                new.setdefault(id(plan.query.profile), {})[plan.key] = plan
        for same in new.values():
            spaces = [_iterate(plan) for plan in same.values()]
            profile = next(iter(same.values())).query.profile
            touched = footprints(profile, [space.spans for space in spaces])
            for (key, plan), space, footprint in zip(same.items(), spaces, touched, strict=True):
                _, _, loops, forms, _ = plan.query
                self._known[key] = LoopContext(
                    profile, loops, forms, plan.tiles, *space, plan.reads_stored, footprint
                )
        return [self._known[plan.key] for plan in plans]


class _Plan(NamedTuple):
    """A query, its cache key, and the inputs of its loop context."""

    key: tuple[object, ...]
    query: Query
    tiles: tuple[int | None, ...]
    reads_stored: bool


def _plan(query: Query) -> _Plan:
    profile, kept, loops, forms, stored = query
    positions = {loop.name: position for position, loop in enumerate(loops)}
    tiles = tuple(
        [None if loop.within is None else positions.get(loop.within.tile) for loop in loops]
    )
    # Statements share what it takes to start the threads of a loop.
    marks = tuple(
        [(loop.parallel and len(loop.schedule), loop.vector, loop.unroll) for loop in loops]
    )
    reads_stored = not stored.isdisjoint(profile.loaded)
    return _Plan(
        (profile.name, kept, forms, tiles, marks, reads_stored), query, tiles, reads_stored
    )


class _Space(NamedTuple):
    """The iteration space of a `LoopContext`."""

    trips: tuple[float, ...]
    values: tuple[float, ...]
    spans: tuple[tuple[float, ...], ...]


def _iterate(plan: _Plan) -> _Space:
    profile, _, loops, forms, _ = plan.query
    lengths = profile.spans_in(_order(forms))
    skewed = any(form.skewed for form in forms)
    each = iterations(lengths, loops, forms) if skewed else _one_by_one(lengths, loops, forms)
    values, left = zip(*each, strict=True) if loops else ((), ())
    trips = tuple(
        [max(1.0, count / (loop.vector or 1)) for loop, count in zip(loops, values, strict=True)]
    )
    return _Space(trips, values, (lengths, *left))


def _order(forms: Sequence[LinearForm]) -> tuple[int, ...]:
    """The iterators by the outermost loop over each; as written, where loops are skewed."""
    if any(form.skewed for form in forms):
        return ()
    return tuple(dict.fromkeys(d for form in forms for d, _ in form.terms))


def _one_by_one(
    lengths: tuple[float, ...], loops: Sequence[Loop], forms: Sequence[LinearForm]
) -> Iterator[tuple[float, tuple[float, ...]]]:
    """The same as `skewed.iterations` where each loop is over one iterator."""
    left = list(lengths)
    for loop, form in zip(loops, forms, strict=True):
        count = 1.0
        for d, slope in form.terms:
            inside = min(left[d], 1.0 / slope)
            count = max(1.0, left[d] / inside)
            left[d] = inside * min(count, float(loop.vector or 1))
        yield count, tuple(left)


def _stores(place: LoopContext) -> set[tuple[object, ...]]:
    return {
        (access.array, access.offset, *(steps[number] for steps in place.steps))
        for number, access in enumerate(place.profile.accesses)
        if access.is_write
    }
