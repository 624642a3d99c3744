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


class LoopCounts(NamedTuple):
    """What `Control` says of the loops around the statement, whatever else is in them."""

    loops: float
    unrolled: float
    iterations: float
    entries: float
    partial: float
    skewed: float
    ragged: float


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


@dataclass(frozen=True, eq=False)
class Execution:
    """How a program runs: what loops must know of it.

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
    """What rows must know of the whole program; see `surroundings`."""

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
