"""Feature rows of a nest under each of its interchanges.

All interchanges are described at once, from facts of the nest as it is: strides, trip counts,
footprints, dependences that loops carry. Behind these numbers stand those that the general model
sees of each order; they know which short loops LLVM unrolls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.machine.machine import USABLE_SHARE
from ....passes.machine.target_files import reference_machine
from ....passes.polyhedral.isl_context import ISL_LOCK
from ....passes.polyhedral.schedule_tree import (
    Loop,
    Tree,
    leaves,
    rebuild,
    replace_node,
    statements,
)
from ....passes.schedules.schedule import Schedule
from ....passes.search.space.loop_pairs import chains_by_levels
from ...features.extract import profiles_of, rows_of_nests
from ...features.row_columns import FEATURES_VERSION, column
from ...features.row_columns import NAMES as GENERAL
from ...features.statements import Operations, StatementProfile
from ..common.loop_iterators import iterators
from .access_conflicts import CONFLICTS, conflicts
from .classes import CLASSES, NONE, class_of

Array = NDArray[np.float64]

VERSION = 6
"""Increases when a number changes its meaning or place."""

INNER = 3
"""Loops that are described one by one, from the innermost outwards."""

STRIDES = ("same", "next", "short", "far", "page")
"""How an access moves with a step: not, to the next element, within a line, a page, farther."""

_MACHINE = reference_machine()
_PAGE, _CACHE_LINE = _MACHINE.page, _MACHINE.cache_line
_BYTES_PER_CYCLE = tuple(_MACHINE.bandwidths[level] / _MACHINE.hertz for level in (1, 2, 3))
_CYCLES = tuple(_MACHINE.cycles[kind] for kind in Operations._fields)
_ADDITION, _FORWARDING = _MACHINE.latencies["additions"], _MACHINE.store_forwarding
_NANOSECONDS = 1e9
_SHORT_BODY = 64
"""Instances of a loop that LLVM unrolls fully."""

_OWN: tuple[str, ...] = (
    "instances",
    "depth",
    "statements",
    "affected",
    "reads",
    "writes",
    "element_bytes",
    "lanes",
    "is_float",
    "reassociable",
    "chain",
    "own_chain",
    "box",
    "instructions",
    *Operations._fields,
    "around.outer",
    "around.serial",
    "around.instructions",
    "around.loads",
    "around.stores",
    *(f"around.{name}" for name in CONFLICTS),
    "outer.trips",
    "entries",
    *(
        f"{kind}.{stride}{back}"
        for back in range(INNER)
        for kind in ("load", "store")
        for stride in STRIDES
    ),
    *(f"trips{back}" for back in range(INNER)),
    *(f"varies{back}" for back in range(INNER)),
    *(f"bytes{back}" for back in range(INNER)),
    "carried.exists",
    "carried.back",
    "carried.distance",
    "carried.is_sum",
    "latency",
    "bytes",
    *(f"moved{level}" for level in (1, 2, 3)),
    *(f"fits{level}" for level in (1, 2, 3)),
    "jumps",
    "idle.back",
    "idle.trips",
    "idle.inside",
    "repeats",
    "scalar",
    "packed",
    "computing",
    "overhead",
    "memory",
    "seconds",
)

NAMES: tuple[str, ...] = (*_OWN, *(f"general.{name}" for name in GENERAL))
"""What the numbers of a row are."""

SECONDS = NAMES.index("seconds")

AROUND = slice(NAMES.index("around.outer"), NAMES.index("outer.trips"))


@dataclass(frozen=True, eq=False)
class NestRows:
    """Rows (classes, statements, `NAMES`) of a nest."""

    classes: tuple[int, ...]
    rows: NDArray[np.float32]


class RowDescription:
    """Computes the rows of a nest."""

    @property
    def schema(self) -> str:
        """Name and version."""
        return f"interchange-rows-{VERSION}-{FEATURES_VERSION}"

    def describe(self, context: SchedulingContext, schedule: Schedule, nest: Tree) -> NestRows:
        """The rows of a top-level nest, for the order as it is and all others."""
        with ISL_LOCK:
            profiles = profiles_of(schedule, context)
            statistics = context.statistics(schedule.scop)
            chains = chains_by_levels(nest)
            swapped = {
                class_of(levels): {name for members in found for name in statements(members[-1])}
                for levels, found in chains.items()
            }
            classes = (NONE, *swapped)
            running = [each for each in leaves(nest) if profiles[each[0].statement].instances]
            general = _general(schedule, context, nest, chains.values())
            paths = [
                (profiles[leaf.statement], iterators(statistics.statements[leaf.statement], loops))
                for leaf, loops in running
            ]
        inside = [tuple(map(id, loops)) for _, loops in running]
        caches = tuple(
            USABLE_SHARE * schedule.target.caches.get(level, size)
            for level, size in _MACHINE.caches.items()
        )
        parts: list[NDArray[np.float32]] = []
        steps: list[Array] = []
        for profile, levels in paths:
            orders = np.array(
                [
                    _order(levels, number if profile.name in swapped.get(number, ()) else NONE)
                    for number in classes
                ],
                dtype=np.int64,
            )
            steps.append(_steps(profile, orders))
            parts.append(_describe(profile, orders, steps[-1], len(paths), caches))
        rows = np.stack(parts, axis=1)
        found = [profile for profile, _ in paths]
        for number, columns in enumerate(_around(rows, inside, found, steps)):
            rows[:, number, AROUND] = columns
        return NestRows(classes, np.concatenate([rows, general], axis=2))


def _general(
    schedule: Schedule,
    context: SchedulingContext,
    nest: Tree,
    swapped: Iterable[Sequence[tuple[Loop, ...]]],
) -> NDArray[np.float32]:
    """The general model's numbers: (classes, statements, `GENERAL`)."""
    orders = [nest]
    for found in swapped:
        order = nest
        for first, *between, last in found:
            order = replace_node(order, first, rebuild((last, *between, first), last.body))
        orders.append(order)
    rows = np.stack(rows_of_nests(schedule, context, orders))
    # Numbers far below one would all be alike in a logarithmic scale.
    rows[..., column("estimate.seconds")] *= _NANOSECONDS
    return rows


def _around(
    rows: NDArray[np.float32],
    loops: Sequence[tuple[int, ...]],
    profiles: Sequence[StatementProfile],
    steps: Sequence[Array],
) -> Iterator[Array]:
    """Of each statement, what all in its innermost loop are together: (classes, `AROUND`).

    `loops` are identities of the loops around each, outermost first. `outer` statements have loops
    of their own in there, so LLVM makes no vectors; `serial` ones hand results from one iteration
    to the next.
    """
    serial = (rows[..., NAMES.index("latency")] > 0) & ~(
        (rows[..., NAMES.index("carried.is_sum")] > 0)
        & (rows[..., NAMES.index("reassociable")] > 0)
    )
    sizes = rows[..., [NAMES.index(name) for name in ("instructions", "reads", "writes")]]
    known: dict[tuple[int, ...], Array] = {}
    for own in loops:
        if own not in known:
            deeper = [len(path) > len(own) and path[: len(own)] == own for path in loops]
            together = [number for number, path in enumerate(loops) if path == own]
            known[own] = np.column_stack(
                [
                    np.full(len(rows), float(sum(deeper))),
                    serial[:, together].sum(axis=1),
                    sizes[:, together].sum(axis=1),
                    conflicts(
                        [profiles[number] for number in together],
                        [steps[number] for number in together],
                        rows[:, together[0], NAMES.index("trips0")].astype(np.float64),
                    ),
                ]
            )
        yield known[own]


def _order(levels: Sequence[int | None], number: int) -> list[int]:
    """The iterator of each loop, outermost first; -1 where a loop runs over none."""
    order = [-1 if iterator is None else iterator for iterator in levels]
    pair = CLASSES[number]
    if pair is not None:
        outer, inner = pair
        order[outer], order[inner] = order[inner], order[outer]
    return order


def _describe(
    profile: StatementProfile,
    orders: NDArray[np.int64],
    steps: Array,
    siblings: int,
    caches: Sequence[float],
) -> NDArray[np.float32]:
    """Rows (classes, `_OWN`) of one statement, whose loops have the iterators `orders`."""
    count, depth = orders.shape
    # The iterator -1 takes one value and moves nothing.
    spans = np.array([(*profile.spans_in([n for n in row if n >= 0]), 1.0) for row in orders])
    trips = spans[np.arange(count)[:, None], orders]
    full = np.array([*(np.array(profile.high) - np.array(profile.low)), 0.0]) + 1.0
    varies = full[orders] > trips + 0.01
    inside = np.ones((count, depth + 1))
    inside[:, :-1] = np.cumprod(trips[:, ::-1], axis=1)[:, ::-1]
    touched = _touched(profile, orders, spans)
    own = inside[:, :1]
    moved, fits = _moved(touched, trips, own[:, 0], caches)
    carried = _carried(profile, orders)
    counts = _counts(profile, steps)
    jumps = _jumps(profile, steps, trips)
    entries = (1.0 / inside[:, :-1]).sum(axis=1)
    scalar, packed = _computing(profile, counts, trips)
    exists, back, distance, is_sum = carried.T
    # The innermost loop hands results on: its iterations wait for each other.
    forwarding = np.where((is_sum > 0) | (counts[:, 0, 1, 0] > 0), 0.0, _FORWARDING)
    latency = (np.where(is_sum > 0, _ADDITION, profile.own_chain) + forwarding) / distance
    latency = np.where((exists > 0) & (back == 0), latency, 0.0)
    free = (latency == 0.0) | ((is_sum > 0) & profile.reassociable)
    computing = np.maximum(np.where(free, np.minimum(scalar, packed), scalar), latency)
    lanes = np.where(free & (packed < scalar), min(profile.lanes, 8), 1.0)
    overhead = _MACHINE.branch_cycles / lanes + _MACHINE.loop_entry_cycles * entries
    memory = np.max(moved / np.array(_BYTES_PER_CYCLE), axis=1)
    idle = _idle(steps, trips)
    seconds = (np.maximum(computing, memory) + overhead) * profile.instances / _MACHINE.hertz
    seconds /= idle[:, 3] if not profile.carried else 1.0
    bytes_inside = np.ones((count, INNER))
    trips_inside = np.ones((count, INNER))
    varies_inside = np.zeros((count, INNER))
    shown = min(INNER, depth)
    bytes_inside[:, :shown] = touched[:, ::-1][:, 1 : shown + 1]
    trips_inside[:, :shown] = trips[:, ::-1][:, :shown]
    varies_inside[:, :shown] = varies[:, ::-1][:, :shown]
    same = np.array(
        [
            profile.instances,
            depth,
            siblings,
            0.0,
            profile.reads,
            profile.writes,
            profile.element_bytes,
            profile.lanes,
            profile.is_float,
            profile.reassociable,
            profile.chain,
            profile.own_chain,
            profile.box,
            profile.instructions,
            *profile.operations,
            *([0.0] * (AROUND.stop - AROUND.start)),
        ]
    )
    columns = [
        np.tile(same, (count, 1)),
        trips[:, :1] if depth else np.ones((count, 1)),
        entries[:, None],
        counts.reshape(count, -1),
        trips_inside,
        varies_inside,
        bytes_inside,
        carried,
        latency[:, None],
        touched[:, :1],
        moved,
        fits,
        jumps[:, None],
        idle,
        scalar[:, None],
        np.broadcast_to(packed, count)[:, None],
        computing[:, None],
        overhead[:, None],
        memory[:, None],
        seconds[:, None],
    ]
    result = np.concatenate(columns, axis=1)
    result[:, NAMES.index("affected")] = np.any(orders != orders[0], axis=1)
    return result.astype(np.float32)


def _steps(profile: StatementProfile, orders: NDArray[np.int64]) -> Array:
    """Elements by which accesses move with a step of a loop: (classes, loops, accesses)."""
    strides = np.array([*profile.strides, (0.0,) * len(profile.accesses)])
    return strides.reshape(-1, len(profile.accesses))[orders]


def _counts(profile: StatementProfile, steps: Array) -> Array:
    """Accesses by how they move with the inner loops: (classes, `INNER`, 2, `STRIDES`)."""
    sizes = np.array([access.size for access in profile.accesses], float)
    writes = np.array([access.is_write for access in profile.accesses])
    distance = np.abs(steps[:, ::-1][:, :INNER])
    bounds = [
        distance < 1e-6,
        distance <= 1.0,
        distance * sizes < _CACHE_LINE,
        distance * sizes < _PAGE,
    ]
    kind = np.select(bounds, range(4), 4)
    result = np.zeros((len(steps), INNER, 2, len(STRIDES)))
    for stride in range(len(STRIDES)):
        found = kind == stride
        for is_write in (0, 1):
            members = found[:, :, writes == bool(is_write)]
            result[:, : found.shape[1], is_write, stride] = members.sum(axis=2)
    return result


def _touched(profile: StatementProfile, orders: NDArray[np.int64], spans: Array) -> Array:
    """Bytes that are touched inside of the first 0, 1, 2 ... loops: (classes, loops + 1)."""
    count, depth = orders.shape
    boxes = profile.boxes
    left = np.repeat(spans[:, None], depth + 1, axis=1)
    for level in range(depth):
        left[np.arange(count), level + 1 :, orders[:, level]] = 1.0
    left = left[:, :, :-1]
    lengths = np.maximum(left - 1.0, 0.0) @ boxes.coefficients.T + (1.0 + boxes.spread)
    np.minimum(lengths, boxes.extents, out=lengths)
    rows = lengths[..., boxes.last] * boxes.sizes
    lengths[..., boxes.last] = np.ceil(rows / _CACHE_LINE) * _CACHE_LINE
    touched = np.multiply.reduceat(lengths, boxes.starts, axis=2)
    # Of a box around a diagonal, only that is touched.
    instances = np.exp(np.log(np.maximum(left, 1.0)) @ boxes.iterators.T)
    np.minimum(touched, instances * (boxes.counts * _CACHE_LINE), out=touched)
    return (touched @ boxes.arrays).sum(axis=2)


def _moved(
    touched: Array, trips: Array, instances: Array, caches: Sequence[float]
) -> tuple[Array, Array]:
    """Bytes per instance that go into each cache, and how many inner loops have data that fit."""
    count, depth = trips.shape
    outside = np.ones((count, depth + 1))
    outside[:, 1:] = np.cumprod(trips, axis=1)
    moved: list[Array] = []
    fits: list[Array] = []
    for capacity in caches:
        # Inside of so many loops data fit: the next one out goes through its data every time.
        level = (np.minimum.accumulate(touched, axis=1) > capacity).sum(axis=1, keepdims=True)
        total = np.take_along_axis(outside * touched, np.maximum(level - 1, 0), axis=1)[:, 0]
        moved.append(total / np.maximum(instances, 1.0))
        fits.append((depth - level[:, 0]).astype(np.float64))
    return np.stack(moved, axis=1), np.stack(fits, axis=1)


def _jumps(profile: StatementProfile, steps: Array, trips: Array) -> Array:
    """How often an instance accesses a line that does not follow the last one."""
    sizes = np.array([access.size for access in profile.accesses], float)
    run = np.ones((len(steps), len(sizes)))
    reach = np.ones_like(run)
    going = np.ones_like(run, dtype=bool)
    for level in range(steps.shape[1] - 1, -1, -1):
        step = np.abs(steps[:, level])
        going &= step <= np.maximum(reach, _CACHE_LINE / sizes / 2) * 1.01
        count = trips[:, level, None]
        run = np.where(going, run * count, run)
        reach = np.where(going, reach + step * (count - 1.0), reach)
    return np.where(going, 0.0, 1.0 / run).sum(axis=1)


def _idle(steps: Array, trips: Array) -> Array:
    """Loops that move no access: the innermost one's place from the innermost, its trips, the
    instances inside of it; how often the same is done again that compilers leave out, as in loops
    inside of which there are at most short ones.
    """
    count, depth = trips.shape
    result = np.tile([float(depth), 1.0, 1.0, 1.0], (count, 1))
    still = ~np.any(steps, axis=2)
    for row in range(count):
        inside = 1.0
        for back in range(depth):
            level = depth - 1 - back
            if still[row, level] and trips[row, level] > 1.0:
                if result[row, 0] == depth:
                    result[row, :3] = back, trips[row, level], inside
                if inside <= _SHORT_BODY:
                    result[row, 3] *= trips[row, level]
            else:
                inside *= trips[row, level]
    return result


def _carried(profile: StatementProfile, orders: NDArray[np.int64]) -> Array:
    """The innermost loop that hands results on: exists, from the innermost, distance, is a sum."""
    count, depth = orders.shape
    result = np.zeros((count, 4))
    result[:, 1] = depth
    result[:, 2] = 1.0
    for each in profile.carried:
        distances = np.array([*each.distance, 0.0])[orders]
        for row in range(count):
            (carriers,) = np.nonzero(np.abs(distances[row]) > 1e-9)
            if len(carriers) == 0:
                continue
            # The outermost loop with a distance carries the dependence.
            back = depth - 1 - carriers[0]
            distance = abs(distances[row, carriers[0]])
            exists, known, least, is_sum = result[row]
            if not exists or back < known:
                result[row] = (1.0, back, distance, each.reduction)
            elif back == known:
                result[row] = (1.0, back, min(least, distance), is_sum and each.reduction)
    return result


def _computing(profile: StatementProfile, counts: Array, trips: Array) -> tuple[Array, Array]:
    """Cycles per instance, one by one and with vectors along the innermost loop."""
    operations = sum(c * n for c, n in zip(_CYCLES, profile.operations, strict=True))
    inner = trips[:, -1] if trips.shape[1] else np.ones(len(counts))
    same = counts[:, 0, :, 0]
    often = counts[:, 0].sum(axis=2) - same + same / np.maximum(inner, 1.0)[:, None]
    loads, stores = often[:, 0], often[:, 1]
    ports = np.maximum(loads / _MACHINE.loads_per_cycle, stores / _MACHINE.stores_per_cycle)
    scalar = np.maximum(ports, max(operations, 0.01))
    lanes = np.maximum(1.0, np.minimum(profile.lanes, inner))
    gathered, scattered = counts[:, 0, 0, 2:].sum(axis=1), counts[:, 0, 1, 2:].sum(axis=1)
    packed = scalar / lanes + _MACHINE.gather_cycles * gathered
    packed += _MACHINE.scatter_cycles * scattered
    return scalar, packed
