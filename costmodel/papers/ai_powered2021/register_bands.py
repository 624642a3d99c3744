"""Register-tiling space: bands of loops to unroll and jam, and their factors.

The space of "AI Powered Compiler Techniques for DL Code Optimization" (2021), section 4: a state
has an unroll factor for every loop of a band, an action raises or lowers one of them. Everything
around the band (order, cache tiles, copies into panels, threads) follows from the factors as the
default strategies make it, so that any nest with such a band can be tuned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

from ....passes.default.default_schedule import orders, schedule_nests
from ....passes.estimate.estimate import estimate
from ....passes.estimate.register_tile import RegisterTile
from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.isl_context import ISL_LOCK
from ....passes.polyhedral.schedule_tree import Loop, chains, loops_around, statements
from ....passes.schedules.errors import TransformationError
from ....passes.schedules.schedule import Schedule, Transformation
from ....passes.transformations.interchange import Interchange
from ....passes.transformations.parallel import Parallel
from ....passes.transformations.tile import Tile
from ....passes.transformations.unroll import Unroll
from ....passes.transformations.vectorize import Vectorize

ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28)
VECTORS = (1, 2, 3, 4)
UNROLLED = (1, 2, 4, 8)
JAMMED = (1, 2, 3, 4, 6, 8, 12, 16)
DEEPEST = 3
"""Loops of a band that no strategy has a register tile for: the innermost ones."""

LEAST_WORK = 0.1
"""The part of a program's iterations that a band must have."""

State = tuple[int, ...]
"""A factor for every loop of a band: iterations, or vectors for the vector loop."""


@dataclass(frozen=True)
class Band:
    """The loops around a statement to unroll and jam, innermost last, with possible factors.

    `extents` are their iterations (vectors for the vector loop), `start` the factors of `default`.
    All factors but that of the loop `terms` (if any) multiply the registers that are needed, of
    which there are `registers`.
    """

    statement: str
    loops: tuple[str, ...]
    extents: tuple[int, ...]
    ladders: tuple[tuple[int, ...], ...]
    start: State
    registers: int
    terms: int | None = None

    @cached_property
    def states(self) -> tuple[State, ...]:
        """All combinations that registers could hold; the start is one of them in any case."""
        return tuple(s for s in product(*self.ladders) if self.is_allowed(s))

    def is_allowed(self, state: State) -> bool:
        """Whether a state belongs to the space."""
        return state == self.start or self.copies(state) <= self.registers

    def copies(self, state: State) -> int:
        """Registers that results take."""
        return prod(factor for place, factor in enumerate(state) if place != self.terms)

    def move(self, state: State, loop: int, up: bool) -> State | None:
        """The state with the next larger or smaller factor of a loop; None beyond the ends."""
        ladder = self.ladders[loop]
        place = ladder.index(state[loop]) + (1 if up else -1)
        if not 0 <= place < len(ladder):
            return None
        moved = (*state[:loop], ladder[place], *state[loop + 1 :])
        return moved if self.is_allowed(moved) else None


class RegisterSpace:
    """The register bands of a program, and the schedule of each state.

    What is around them is the best order of `default`, by its estimate, with its strategies.
    """

    def __init__(self, original: Schedule, context: SchedulingContext) -> None:
        self.context = context
        with ISL_LOCK:
            self._order = min(
                orders(original, context),
                key=lambda order: estimate(schedule_nests(order, context), context),
            )
            tiled = replace(context, blocks={})
            self.default = schedule_nests(self._order, tiled)
            statements_of = context.statistics(original.scop).statements
            all_work = sum(statistics.instances for statistics in statements_of.values())

            def share(band: Band) -> float:
                return statements_of[band.statement].instances / all_work

            found = [b for b in self._bands(tiled) if len(b.states) > 1 and share(b) >= LEAST_WORK]
            self.bands = tuple(sorted(found, key=lambda band: -share(band)))
            """The slowest first, by the number of iterations."""

    def schedule(self, states: Mapping[Band, State]) -> Schedule | None:
        """The schedule with these factors, those of `default` for other bands; None if illegal."""
        tiles = {
            band.statement: RegisterTile(state[0], state[1])
            for band, state in states.items()
            if band.terms is not None
        }
        with ISL_LOCK:
            result = schedule_nests(self._order, replace(self.context, tiles=tiles, blocks={}))
            try:
                for band, state in states.items():
                    if band.terms is not None:
                        result = _unroll_terms(result, band, state[band.terms])
                    elif state != band.start:
                        result = _jam(self._order, result, band, state)
            except TransformationError:
                return None
        return result

    def _bands(self, context: SchedulingContext) -> Iterator[Band]:
        tree = self.default.tree
        registers = self.default.target.vector_registers
        for name, block in context.blocks.items():
            around = loops_around(tree, name) if name in statements(tree) else ()
            inner = [loop for loop in around if loop.unroll is None and loop.vector is None]
            if len(around) < 3 or around[-1].vector is None or not inner:
                continue
            extents = (block.rows, block.vectors, block.depth)
            start = (block.tile.rows, block.tile.vectors, 1)
            names = (around[-2].name, around[-1].name, inner[-1].name)
            yield make_band(name, names, extents, (ROWS, VECTORS, UNROLLED), start, registers, 2)
        own = {each.name for each in self._order.scop.statements}
        for members in chains(tree):
            inside = statements(members[-1])
            found = _marked(members)
            if not found or not own.issuperset(inside) or context.blocks.keys() & set(inside):
                continue
            statistics = context.statistics(self.default.scop).statements[inside[0]]
            outer = loops_around(tree, inside[0])
            trips = statistics.trips(outer)[-len(found) :]
            lanes = members[-1].vector or 1
            extents = (*(round(trip) for trip in trips[:-1]), round(trips[-1] / lanes))
            ladders = (*((JAMMED,) * (len(found) - 1)), VECTORS)
            start = (1,) * len(found)
            names = tuple(loop.name for loop in found)
            yield make_band(inside[0], names, extents, ladders, start, registers)


def make_band(
    statement: str,
    names: tuple[str, ...],
    extents: tuple[int, ...],
    ladders: tuple[tuple[int, ...], ...],
    start: State,
    registers: int,
    terms: int | None = None,
) -> Band:
    """A band without factors beyond the extents, and with those of the start."""
    fitting = tuple(
        tuple(sorted({first, *(factor for factor in ladder if factor <= max(1, extent))}))
        for ladder, extent, first in zip(ladders, extents, start, strict=True)
    )
    return Band(statement, names, extents, fitting, start, registers, terms)


def _marked(members: Sequence[Loop]) -> tuple[Loop, ...]:
    """The innermost loops of a chain that end with a vector loop, if nothing is unrolled there."""
    found = members[-DEEPEST:]
    points = {loop.within.tile for loop in found if loop.within is not None}
    if found[-1].vector is None or any(loop.unroll is not None for loop in members):
        return ()
    return tuple(loop for loop in found if loop.name not in points)


def _unroll_terms(schedule: Schedule, band: Band, factor: int) -> Schedule:
    """Writes out some terms of the sum that runs around a register tile."""
    assert band.terms is not None
    if factor == 1:
        return schedule
    around = loops_around(schedule.tree, band.statement)
    inner = [loop for loop in around if loop.unroll is None and loop.vector is None]
    return schedule.apply(Unroll((f"{band.statement}.{inner[-1].name}",), factor))


def _jam(start: Schedule, schedule: Schedule, band: Band, state: State) -> Schedule:
    """Marks of a chain are taken off, its loops cut and jammed, and the marks are set again.

    parallel i: for k: vector j: S    ->    parallel it: for k: for jt: f copies of vectors of S
    """
    parallel: list[str] = []
    width: int | None = None
    result = start
    for step in schedule.transformations[len(start.transformations) :]:
        mine = _names_in(result, step, band)
        if mine and isinstance(step, Parallel):
            parallel += mine
        elif mine and isinstance(step, Vectorize):
            width = result.apply(step).loop(f"{band.statement}.{mine[0]}").vector
        else:
            result = result.apply(step)
    if width is None:
        raise TransformationError(f"no vector loop around {band.statement}")
    return _marked_again(_cut(result, band, state, width), band, state, width, parallel)


def _names_in(schedule: Schedule, step: Transformation, band: Band) -> list[str]:
    """The loops of a band among those that a step marks."""
    if not isinstance(step, Parallel | Vectorize):
        return []
    around = loops_around(schedule.tree, band.statement)
    marked = schedule.find_loops(step.loops)
    mine = [loop.name for loop in marked if any(loop is other for other in around)]
    return [name for name in mine if name in band.loops]


def _cut(schedule: Schedule, band: Band, state: State, width: int) -> Schedule:
    """Strips of the jammed loops, and the iterations of a strip inside of all loops."""
    factors = dict(zip(band.loops, state, strict=True))
    vector = band.loops[-1]
    sizes = {name: factor for name, factor in factors.items() if factor > 1}
    sizes[vector] = factors[vector] * width
    outside: list[str] = []
    for name in band.loops:
        if name in sizes:
            step = Tile((f"{band.statement}.{name}",), (sizes[name],))
            outside += step.new_loops(schedule)
            schedule = schedule.apply(step)
        else:
            outside.append(name)
    order = (*outside, *(name for name in band.loops if name in sizes))
    names = tuple(f"{band.statement}.{name}" for name in order)
    return schedule if len(sizes) == 1 else schedule.apply(Interchange(names))


def _marked_again(
    schedule: Schedule, band: Band, state: State, width: int, parallel: Sequence[str]
) -> Schedule:
    jammed = [name for name, factor in zip(band.loops, state, strict=True) if factor > 1]
    if jammed:
        schedule = schedule.apply(Unroll(tuple(f"{band.statement}.{name}" for name in jammed)))
    schedule = schedule.apply(Vectorize((f"{band.statement}.{band.loops[-1]}",), width))
    tiles = {
        loop.name: loop.within.tile
        for loop in loops_around(schedule.tree, band.statement)
        if loop.within is not None and loop.name in (*jammed, band.loops[-1])
    }
    for name in parallel:
        schedule = schedule.apply(Parallel((f"{band.statement}.{tiles.get(name, name)}",)))
    return schedule
