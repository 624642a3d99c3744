"""Per-statement features: row sections that the loop context alone determines."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, prod
from typing import NamedTuple, cast

from ...passes.machine.target_files import reference_machine
from ...passes.polyhedral.schedule_tree import Loop
from .in_core_time import InCoreTimes, in_core_times
from .loop_context import LoopContext
from .outer import outer
from .sections import (
    LEVELS,
    Execution,
    Innermost,
    Level,
    LoopCounts,
    Recurrence,
    Threads,
    Vectors,
    Work,
)
from .trip_counts import trip_counts

_MACHINE = reference_machine()
_PAGE, _FORWARDING = _MACHINE.page, _MACHINE.store_forwarding

_LINE_ELEMENTS = _MACHINE.cache_line // 8
"""Elements of a line, of the widest type."""

NEAR = 64
"""Iterations within which a loop must not reorder what it hands on, if it is to have vectors."""


class Share(NamedTuple):
    """A statement's contribution to the unrolled body of its innermost loop."""

    serial: float
    instructions: float
    loads: float
    stores: float


class StatementFeatures(NamedTuple):
    """Per-statement features, in two runs of adjacent columns around those of the body.

    `levels` lack what all statements touch, `streams` counts arrays that the cache of level 2
    cannot hold.
    """

    vectors: Vectors
    inner: Innermost
    recurrence: Recurrence
    loops: LoopCounts
    threads: Threads
    times: InCoreTimes
    streams: float
    levels: list[float]
    share: Share
    before_body: tuple[float, ...]
    after_body: tuple[float, ...]


def statement_features(place: LoopContext, execution: Execution) -> StatementFeatures:
    """The features of a statement in its loop context, found out once per way of running."""
    known = place.remembered.get(execution)
    if known is None:
        known = place.remembered[execution] = _describe(place, execution)
    return cast("StatementFeatures", known)


def _describe(place: LoopContext, execution: Execution) -> StatementFeatures:
    lanes = vectors(place, execution)
    inner = innermost(place)
    chain = recurrence(place, inner)
    return StatementFeatures(
        lanes,
        inner,
        chain,
        loop_counts(place),
        threads(place, execution),
        in_core_times(place, lanes, inner),
        streams(place, execution),
        levels(place),
        share(place),
        (*work(place), *place.profile.operations, *lanes, *trip_counts(place), *inner),
        (*outer(place), *chain),
    )


def work(place: LoopContext) -> Work:
    """The section `Work`."""
    profile = place.profile
    return Work(
        profile.instances,
        len(profile.spans),
        profile.reads,
        profile.writes,
        profile.is_float,
        profile.element_bytes,
        profile.lanes,
        profile.chain,
        profile.own_chain,
        profile.box,
        profile.instructions,
        profile.reassociable,
    )


def vectors(place: LoopContext, execution: Execution) -> Vectors:
    """The section `Vectors`."""
    loops, position = place.loops, place.vector
    marked = position is not None
    if position is None:
        position = place.innermost
    if position is None:
        return Vectors(0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, execution.explicit, *([0.0] * 12))
    width = float(loops[position].vector or place.profile.lanes)
    values = place.values[position]
    remainder = ceil(values / width) * width / values
    return Vectors(
        marked,
        width if marked else 0.0,
        values / ceil(values / width) if marked else 1.0,
        ceil(width / place.profile.lanes) if marked else 1.0,
        values,
        remainder,
        position == place.innermost or place.innermost is None,
        len(loops) - 1 - position,
        execution.explicit,
        *_strides(place.profile.kinds, place.steps[position]).vectors,
    )


class _Strides(NamedTuple):
    """Access counts by stride along a loop: loads, then stores.

    `vectors` are the last numbers of `Vectors`, `inner` those of `Innermost`, with `conflicts`,
    and `level` the last ones of `Level`.
    """

    vectors: tuple[float, ...]
    inner: tuple[float, ...]
    level: tuple[float, float, float]


@lru_cache(maxsize=4096)
def _strides(kinds: tuple[tuple[bool, int], ...], steps: tuple[float, ...]) -> _Strides:
    vectors, inner, conflicts = [0.0] * 12, [0.0] * 8, 0.0
    for (is_write, size), step in zip(kinds, steps, strict=True):
        stride = _stride_class(step, size)
        vectors[6 * is_write + stride] += 1.0
        inner[4 * is_write + (0, 1, 1, 2, 2, 3)[stride]] += 1.0
        conflicts += abs(step) > 1 and (abs(step) * size) % _PAGE == 0
    count = max(1, len(steps))
    same, following = inner[0] + inner[4], inner[1] + inner[5]
    level = (same / count, following / count, (len(steps) - same - following) / count)
    return _Strides(tuple(vectors), (*inner, conflicts), level)


def _stride_class(step: float, size: int) -> int:
    distance = abs(step)
    if distance < 1e-6:
        return 0
    if distance <= 1.0:
        return 1 if step > 0 else 2
    if distance <= _LINE_ELEMENTS:
        return 3
    return 4 if distance * size < _PAGE else 5


def innermost(place: LoopContext) -> Innermost:
    """The section `Innermost`."""
    position = place.innermost
    accesses = place.profile.accesses
    if position is None:
        reads, writes = place.profile.reads, place.profile.writes
        return Innermost._make((1.0, *([0.0] * 10), 1.0, reads, writes, 0.0, 1.0))
    loads = stores = accumulators = 0.0
    unrolled = [(n, copies) for n, copies in enumerate(place.copies) if copies > 1]
    body = prod(copies for _, copies in unrolled)
    for number, access in enumerate(accesses):
        rate = 1.0
        if abs(place.steps[position][number]) < 1e-6:
            rate /= place.trips[position]
        elements = 1.0
        for n, copies in unrolled:
            if abs(place.steps[n][number]) < 1e-6:
                if n != position:
                    rate /= copies
            else:
                elements *= copies
        if access.is_write:
            stores += rate
            accumulators += elements
        else:
            loads += rate
    return Innermost._make(
        (
            place.trips[position],
            *_strides(place.profile.kinds, place.steps[position]).inner,
            place.loops[position].within is not None,
            body,
            loads,
            stores,
            accumulators,
            place.repeats,
        )
    )


def recurrence(place: LoopContext, inner: Innermost) -> Recurrence:
    """The section `Recurrence`."""
    carriers = place.carriers
    if not carriers:
        return Recurrence(*([0.0] * 9))
    inside = place.innermost is None or place.innermost in carriers
    position = place.innermost if place.innermost in carriers else max(carriers)
    assert position is not None
    distance, is_sum = carriers[position]
    # Unrolled loops that carry results make the chain longer.
    chains = distance * prod(
        copies for n, copies in enumerate(place.copies) if n not in carriers and n != place.vector
    )
    forwarding = 0.0 if is_sum or inner.store_same else _FORWARDING
    latency = (place.profile.own_chain + forwarding) / chains
    return Recurrence(
        1.0,
        len(place.loops) - 1 - position,
        inside,
        place.vector in carriers,
        distance,
        is_sum,
        chains,
        latency if inside else 0.0,
        distance * prod(place.trips[position + 1 :]),
    )


def share(place: LoopContext) -> Share:
    """What `Body` adds up."""
    copies, profile = prod(place.copies), place.profile
    return Share(
        _is_serial(place),
        copies * profile.instructions,
        copies * profile.reads,
        copies * profile.writes,
    )


def _is_serial(place: LoopContext) -> bool:
    if place.innermost is None or place.innermost not in place.carriers:
        return False
    distance, is_sum = place.carriers[place.innermost]
    return distance < NEAR and not (is_sum and place.profile.reassociable)


def loop_counts(place: LoopContext) -> LoopCounts:
    """What `Control` says of the loops."""
    loops = place.loops
    entered = 1.0
    entries = iterations = 0.0
    unrolled = 0
    partial = 1.0
    skewed = 0
    for n, loop in enumerate(loops):
        entered *= place.trips[n]
        if place.fully_unrolled[n]:
            unrolled += 1
        else:
            iterations += entered / (loop.unroll or 1)
            entries += entered / place.trips[n]
        if place.forms[n].rounds:
            partial *= ceil(place.trips[n]) / place.trips[n]
        skewed += place.forms[n].skewed
    instances = max(1.0, place.profile.instances)
    return LoopCounts(
        len(loops),
        unrolled,
        iterations / instances,
        entries / instances,
        partial,
        skewed,
        place.ragged,
    )


def threads(place: LoopContext, execution: Execution) -> Threads:
    """The section `Threads`."""
    first = place.fork
    if first is None or execution.threads == 1:
        return Threads(first is not None, 1.0, 1.0, 0.0, 1.0, 0.0, execution.parallel_nests)
    last = first
    while last + 1 < len(place.loops) and place.loops[last + 1].parallel:
        last += 1
    trips = prod(ceil(count - 1e-6) for count in place.trips[first : last + 1])
    rounds = ceil(trips / execution.threads)
    used = max(1.0, trips / rounds)
    return Threads(
        1.0,
        used,
        trips,
        prod(place.trips[:first]) / len(place.loops[first].schedule),
        min(execution.threads, trips) / used,
        first,
        execution.parallel_nests,
    )


def streams(place: LoopContext, execution: Execution) -> float:
    """How many arrays are too large for the cache of level 2."""
    return float((place.footprint.arrays[0, 0] > execution.caches[1]).sum())


def levels(place: LoopContext) -> list[float]:
    """The sections `Level`, from the innermost loop outwards; zeros where there is none.

    `kilobytes` are left open, as neighbours change them: see `with_kilobytes`.
    """
    result: list[float] = []
    for back in range(LEVELS):
        n = len(place.loops) - 1 - back
        if n < 0:
            result += [0.0] * len(Level._fields)
            continue
        loop = place.loops[n]
        result += Level(
            place.trips[n],
            0.0,
            -1.0 if loop.unroll is None else float(loop.unroll),
            _mark(loop, place.forms[n].rounds),
            *_strides(place.profile.kinds, place.steps[n]).level,
        )
    return result


def _mark(loop: Loop, rounds: bool) -> float:
    """0 to 7: tile loop (1), point loop (2), parallel loop (4)."""
    return float(rounds) + 2.0 * (loop.within is not None) + 4.0 * loop.parallel
