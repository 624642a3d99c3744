"""Sections of a feature row, as named tuples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ...passes.machine.machine import USABLE_SHARE
from ...support.cached_property import cached_property

LEVELS = 5
"""So many loops are described one by one, from the innermost outwards."""


class Work(NamedTuple):
    """Schedule-independent work of the statement."""

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
    """Vector lanes: of the marked loop, or of the innermost one if LLVM may vectorise it.

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
    """The innermost loop after full unrolling of short loops."""

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
    """The innermost loop that carries a dependence.

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


class LoopCounts(NamedTuple):
    """The part of `Control` that the loops around the statement alone determine."""

    loops: float
    unrolled: float
    iterations: float
    entries: float
    partial: float
    skewed: float
    ragged: float


class Control(NamedTuple):
    """Control overhead: loops and conditions around the statement."""

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
    """The outermost parallel loops; `forks` is the statement's share of their fork-joins."""

    parallel: float
    threads: float
    trips: float
    forks: float
    balance: float
    position: float
    parallel_nests: float


class Memory(NamedTuple):
    """Footprint and traffic: bytes touched, and moved into caches L1 to L3 per instance.

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
    """Properties of the machine: cache sizes in bytes, vector width in bits."""

    level_1: float
    level_2: float
    level_3: float
    vector_bits: float


class Estimate(NamedTuple):
    """Parts of the roofline estimate, in cycles per instance on one thread; `seconds` is the whole.

    What it takes to start parallel loops is not part of it: `Threads.forks` counts these.
    """

    computing: float
    latency: float
    overhead: float
    from_2: float
    from_3: float
    from_memory: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Execution:
    """How a program is executed: the context that loops depend on.

    `threads` run its parallel loops, `explicit` says that all innermost loops are vectors,
    `parallel_nests` counts nests with parallel loops. See `execution`.
    """

    threads: int
    explicit: bool
    parallel_nests: int
    machine: Machine

    @cached_property
    def caches(self) -> tuple[float, ...]:
        """Usable bytes of the caches of levels 1 to 3."""
        return tuple([USABLE_SHARE * size for size in self.machine[:3]])


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Whole-program context of a row; see `surroundings`."""

    execution: Execution
    program_bytes: float
    nests: int


@lru_cache(maxsize=1024)
def execution(threads: int, explicit: bool, parallel_nests: int, machine: Machine) -> Execution:
    """The same object for the same arguments, so that its identity is a key."""
    return Execution(threads, explicit, parallel_nests, machine)


@lru_cache(maxsize=1024)
def surroundings(execution: Execution, program_bytes: float, nests: int) -> Surroundings:
    """The same object for the same arguments, so that its identity is a key."""
    return Surroundings(execution, program_bytes, nests)
