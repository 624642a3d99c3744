"""The numbers of a row: what one statement does under its loops, in its nest, in its program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod
from typing import NamedTuple

from ...passes.default.facts import CACHE_LINE
from ...passes.schedule_tree import Loop
from .nests import PlacedStatement
from .placement import Placement

_FILL = 0.7
"""The part of a cache that data of one loop can be expected to keep."""

_LINE_ELEMENTS = 8
_PAGE = 4096

_FORWARDING = 4.0
"""Cycles until what was stored can be loaded."""

LEVELS = 5
"""So many loops are described one by one, from the innermost outwards."""


class Work(NamedTuple):
    """What the statement is, whatever the schedule."""

    instances: float
    depth: float
    reads: float
    writes: float
    is_float: float
    element_bytes: float
    hardware_lanes: float
    chain: float
    own_chain: float
    box: float
    instructions: float
    reassociable: float


class Vectors(NamedTuple):
    """Vector lanes: of the marked loop, or of the innermost one, where LLVM may make vectors.

    Accesses are counted by how they move along that loop; loads first, then stores.
    """

    marked: float
    width: float
    lanes: float
    registers: float
    values: float
    remainder: float
    is_innermost: float
    position: float
    explicit: float
    load_broadcast: float
    load_contiguous: float
    load_reversed: float
    load_short: float
    load_far: float
    load_page: float
    store_broadcast: float
    store_contiguous: float
    store_reversed: float
    store_short: float
    store_far: float
    store_page: float


class Innermost(NamedTuple):
    """The innermost loop that is left when short loops are written out."""

    trips: float
    load_same: float
    load_next: float
    load_far: float
    load_page: float
    store_same: float
    store_next: float
    store_far: float
    store_page: float
    conflicts: float
    is_tile: float
    body: float
    loads: float
    stores: float
    accumulators: float
    repeats: float


class Recurrence(NamedTuple):
    """The innermost loop that hands results from one iteration to another.

    `between` is how many iterations of the loops inside of it lie between.
    """

    exists: float
    position: float
    is_innermost: float
    is_vector: float
    distance: float
    is_sum: float
    chains: float
    latency: float
    between: float


class Control(NamedTuple):
    """Loops and conditions around the statement."""

    loops: float
    unrolled: float
    iterations: float
    entries: float
    partial: float
    siblings: float
    in_step: float
    share: float
    statements: float
    skewed: float
    ragged: float
    dead: float


class Threads(NamedTuple):
    """The outermost parallel loops; `forks` is the statement's part of how often they start."""

    parallel: float
    threads: float
    trips: float
    forks: float
    balance: float
    position: float
    parallel_nests: float


class Memory(NamedTuple):
    """Bytes: touched in all, and moved into the caches of levels 1 to 3 per instance.

    `lines_1` ... are those of these lines that no other one precedes, so that nothing fetches them
    ahead; `level_1` ... counts from the innermost loop to the one whose data fit.
    """

    own: float
    nest: float
    program: float
    moved_1: float
    moved_2: float
    moved_3: float
    lines_1: float
    lines_2: float
    lines_3: float
    level_1: float
    level_2: float
    level_3: float
    jumps: float
    streams: float
    nests: float


class Level(NamedTuple):
    """One of the loops around the statement, counted from the innermost."""

    trips: float
    kilobytes: float
    unroll: float
    mark: float
    same: float
    next: float
    far: float


class Machine(NamedTuple):
    """What is known of the machine: bytes of its caches, bits of its vectors."""

    level_1: float
    level_2: float
    level_3: float
    vector_bits: float


class Estimate(NamedTuple):
    """Parts of a rough estimate, in cycles per instance on one thread; `seconds` is the whole.

    What it takes to start parallel loops is not part of it: `Threads.forks` counts these.
    """

    computing: float
    latency: float
    overhead: float
    from_2: float
    from_3: float
    from_memory: float
    seconds: float


@dataclass(frozen=True)
class Surroundings:
    """What rows must know of the whole program.

    `threads` run its parallel loops, `explicit` says that all innermost loops are vectors,
    `parallel_nests` counts nests with parallel loops.
    """

    threads: int
    explicit: bool
    program_bytes: float
    nests: int
    parallel_nests: int
    machine: Machine

    @cached_property
    def caches(self) -> tuple[float, ...]:
        """Usable bytes of the caches of levels 1 to 3."""
        return tuple(_FILL * size for size in self.machine[:3])


def work(place: Placement) -> Work:
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


def vectors(place: Placement, around: Surroundings) -> Vectors:
    """The section `Vectors`."""
    loops, position = place.loops, place.vector
    marked = position is not None
    if position is None:
        position = place.innermost
    if position is None:
        return Vectors(0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, around.explicit, *([0.0] * 12))
    width = float(loops[position].vector or place.profile.lanes)
    values = place.values[position]
    remainder = ceil(values / width) * width / values
    counts = [0.0] * 12
    for access, step in zip(place.profile.accesses, place.steps[position], strict=True):
        counts[6 * access.is_write + _stride_class(step, access.size)] += 1.0
    return Vectors(
        marked,
        width if marked else 0.0,
        values / ceil(values / width) if marked else 1.0,
        ceil(width / place.profile.lanes) if marked else 1.0,
        values,
        remainder,
        position == place.innermost or place.innermost is None,
        len(loops) - 1 - position,
        around.explicit,
        *counts,
    )


def _stride_class(step: float, size: int) -> int:
    distance = abs(step)
    if distance < 1e-6:
        return 0
    if distance <= 1.0:
        return 1 if step > 0 else 2
    if distance <= _LINE_ELEMENTS:
        return 3
    return 4 if distance * size < _PAGE else 5


def innermost(place: Placement) -> Innermost:
    """The section `Innermost`."""
    position = place.innermost
    accesses = place.profile.accesses
    if position is None:
        reads, writes = place.profile.reads, place.profile.writes
        return Innermost._make((1.0, *([0.0] * 10), 1.0, reads, writes, 0.0, 1.0))
    counts = [0.0] * 8
    conflicts = 0.0
    for access, step in zip(accesses, place.steps[position], strict=True):
        kind = min(3, (0, 1, 1, 2, 2, 3)[_stride_class(step, access.size)])
        counts[4 * access.is_write + kind] += 1.0
        conflicts += abs(step) > 1 and (abs(step) * access.size) % _PAGE == 0
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
            *counts,
            conflicts,
            place.loops[position].within is not None,
            body,
            loads,
            stores,
            accumulators,
            place.repeats,
        )
    )


def recurrence(place: Placement, inner: Innermost) -> Recurrence:
    """The section `Recurrence`."""
    carriers = place.carriers
    if not carriers:
        return Recurrence(*([0.0] * 9))
    inside = place.innermost is None or place.innermost in carriers
    position = place.innermost if place.innermost in carriers else max(carriers)
    assert position is not None
    distance, is_sum = carriers[position]
    # Of loops that are written out, those that carry results too make the chain longer.
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


def control(item: PlacedStatement, statements: int) -> Control:
    """The section `Control`; `statements` are those of the nest."""
    place = item.place
    loops = place.loops
    entered = 1.0
    entries = iterations = 0.0
    unrolled = 0
    partial = 1.0
    skewed = 0
    for n, loop in enumerate(loops):
        entered *= place.trips[n]
        if place.written_out[n]:
            unrolled += 1
        else:
            iterations += entered / (loop.unroll or 1)
            entries += entered / place.trips[n]
        if place.forms[n].rounds:
            partial *= ceil(place.trips[n]) / place.trips[n]
        skewed += place.forms[n].skewed
    in_step = 1.0
    share = 1.0
    siblings = item.siblings
    overwritten = False
    for other, common, is_later in siblings:
        in_step *= place.ranges[:common] == other.ranges[:common]
        share = min(share, (1 + place.profile.instances) / (1 + other.profile.instances))
        directly_after = is_later and len(other.loops) == common
        overwritten |= directly_after and other.overwrites(place)
    instances = max(1.0, place.profile.instances)
    return Control(
        len(loops),
        unrolled,
        iterations / instances,
        entries / instances,
        partial,
        len(siblings),
        in_step,
        share,
        statements,
        skewed,
        place.ragged,
        overwritten,
    )


def threads(place: Placement, around: Surroundings) -> Threads:
    """The section `Threads`."""
    first = place.fork
    if first is None or around.threads == 1:
        return Threads(first is not None, 1.0, 1.0, 0.0, 1.0, 0.0, around.parallel_nests)
    last = first
    while last + 1 < len(place.loops) and place.loops[last + 1].parallel:
        last += 1
    trips = prod(ceil(count - 1e-6) for count in place.trips[first : last + 1])
    rounds = ceil(trips / around.threads)
    used = max(1.0, trips / rounds)
    return Threads(
        1.0,
        used,
        trips,
        prod(place.trips[:first]) / len(place.loops[first].schedule),
        min(around.threads, trips) / used,
        first,
        around.parallel_nests,
    )


def memory(item: PlacedStatement, around: Surroundings) -> Memory:
    """The section `Memory`."""
    place = item.place
    moved: list[float] = []
    fitting: list[float] = []
    last = len(place.loops)
    instances = max(1.0, place.profile.instances)
    for taken, capacity in zip(item.taken, around.caches, strict=True):
        level, times = 0, 1.0
        if taken[0] > capacity:
            while level < last and taken[level + 1] > capacity:
                times *= place.trips[level]
                level += 1
        moved.append(times * item.totals[level] * item.shares[level] / instances)
        fitting.append(last - level)
    large = around.caches[1]
    streams = float((place.footprints[0, 0] > large).sum())
    lines = [min(place.jumps, amount / CACHE_LINE) for amount in moved]
    return Memory._make(
        (
            float(place.touched[0, 0]),
            item.totals[0],
            around.program_bytes,
            *moved,
            *lines,
            *fitting,
            place.jumps,
            streams,
            around.nests,
        )
    )


def levels(item: PlacedStatement) -> list[float]:
    """The sections `Level`, from the innermost loop outwards; zeros where there is none."""
    place = item.place
    result: list[float] = []
    for back in range(LEVELS):
        n = len(place.loops) - 1 - back
        if n < 0:
            result += [0.0] * len(Level._fields)
            continue
        loop = place.loops[n]
        same = following = far = 0.0
        for step in place.steps[n]:
            if abs(step) < 1e-6:
                same += 1
            elif abs(step) <= 1:
                following += 1
            else:
                far += 1
        count = max(1, len(place.steps[n]))
        result += Level(
            place.trips[n],
            item.totals[n] / 1024,
            -1.0 if loop.unroll is None else float(loop.unroll),
            _mark(loop, place.forms[n].rounds),
            same / count,
            following / count,
            far / count,
        )
    return result


def _mark(loop: Loop, rounds: bool) -> float:
    """0 to 7: tile loop (1), point loop (2), parallel loop (4)."""
    return float(rounds) + 2.0 * (loop.within is not None) + 4.0 * loop.parallel
