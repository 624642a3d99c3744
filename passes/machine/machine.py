"""The performance model of a machine, for analytical estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from xdsl.ir import Attribute

USABLE_SHARE = 0.7
"""The part of a cache that is left for the data of a loop beside all else."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Performance parameters of a core and of shared resources; the figures are in `targets/`.

    They are rounded, and the same on all machines of a kind: schedules must not depend on what
    else a machine does. `cycles` (between two operations on whole vectors), and `latencies` (cycles
    until a result can be used) are by class of operation, see `OPERATIONS`; those of additions and
    multiplications are meant for multiplications with an addition fused, too.
    """

    OPERATIONS: ClassVar[tuple[str, ...]] = (
        "additions",
        "multiplications",
        "divisions",
        "square_roots",
        "functions",
        "comparisons",
        "integer_multiplications",
        "integer_divisions",
        "shuffles",
        "others",
    )

    vector_bits: int
    vector_registers: int
    hertz: float
    multiply_adds_per_cycle: float
    """Vectors of fused multiply-adds."""
    loads_per_cycle: float
    stores_per_cycle: float
    cycles: Mapping[str, float]
    latencies: Mapping[str, float]
    function_cycles: Mapping[str, float]
    """Of one call of a function of the C library, by name; every lane makes one."""
    vector_function: float
    """Calls that one of a function for whole vectors takes as long as."""
    function_latency: float
    """The latency of a call, over its cycles: calls overlap."""
    gather_cycles: float
    """Per lane."""
    scatter_cycles: float
    """Per lane."""
    transposing_cycles: float
    """For each vector of a block of rows that is transposed in registers, and for each halving."""
    masked_vector: float
    """Whole vectors that one is worth of which only some lanes count."""
    masked_store_cycles: float
    """For a store of which only some lanes count."""
    guard_cycles: float
    """For the conditions of statements that share a loop, but not all of its iterations."""
    branch_cycles: float
    """Per iteration of a loop."""
    loop_entry_cycles: float
    reorder_window: float
    """Operations that a core has under way."""
    store_forwarding: float
    """Cycles until what was stored can be loaded."""
    vector_forwarding: float
    """Cycles until a vector that was stored can be loaded."""
    masked_forwarding: float
    """The same where only some lanes count."""
    caches: Mapping[int, int]
    """Bytes per level: those of one core for levels of its own, the whole of a shared one."""
    cache_line: int
    set_periods: Mapping[int, int]
    """Bytes after which addresses fall into the same set of the cache of a level."""
    page: int
    huge_page: int
    """Bytes of a page, as usual and of the huge ones that large arrays get."""
    tlb_entries: int
    """Pages that a core finds at once."""
    page_fault: float
    """Seconds for the first access to a page of new memory."""
    bandwidths: Mapping[int, float]
    """Bytes per second that one core gets from behind a level of caches: from L2, L3, and from
    memory with one stream."""
    line_latencies: Mapping[int, float]
    """Cycles for a line from there that nothing has fetched ahead, while others are under way."""
    streams: int
    """So many streams at once come twice as fast from memory as one: more lines are under way."""
    stream_start: int
    """Bytes of a contiguous run until the lines behind them are fetched ahead."""
    unseen_stream: float
    """How many times as long a line takes until then, of two runs, from behind the second-level
    cache."""
    shortest_run: int
    """Bytes of a contiguous run below which lines come from memory one by one."""
    prefetched_streams: int
    """Rows of a matrix that come from memory side by side without waiting for each other."""
    memory_bandwidth: float
    """Bytes per second from memory for all cores together."""
    fork_join: float
    """Seconds to start a parallel loop and wait for its threads."""
    thread_wake: float
    """Seconds until threads run that have gone to sleep since the program ran last."""

    def capacity(self, level: int) -> float:
        """Bytes that data of one loop can be expected to keep in a cache; 0 without that level."""
        return self.caches.get(level, 0) * USABLE_SHARE

    @property
    def last_cache(self) -> int:
        """Bytes of the last level of caches; 0 where there is none."""
        return self.caches.get(max(self.caches, default=0), 0)

    def lanes(self, element_type: Attribute) -> int:
        """How many elements of the type one vector register holds; `index` has 64 bits."""
        bits = int(getattr(element_type, "bitwidth", 64))
        return max(1, self.vector_bits // max(8, bits))
