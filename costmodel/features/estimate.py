"""A rough estimate of each row, which a model then corrects."""

from __future__ import annotations

from .bodies import Body
from .placement import Placement
from .rows import Control, Estimate, Innermost, Memory, Recurrence, Threads, Vectors

HERTZ = 4e9

_BYTES_PER_CYCLE = (50.0, 20.0, 5.0)
"""What a core gets from the caches of levels 2 and 3 and from memory."""

_CYCLES = (0.5, 0.5, 6.0, 18.0, 0.7, 1.0, 14.0, 0.7)
"""Per vector, by the kinds of `Operations`."""

_LATENCY = (3.0, 10.0, 25.0)
"""Cycles for a line from there that nothing has fetched ahead, while others are under way."""

_MEMORY_SHARE = 1.15
"""How much faster several threads read from memory than one."""

_MOVED = slice(Memory._fields.index("moved_1"), Memory._fields.index("moved_3") + 1)
_LINES = slice(Memory._fields.index("lines_1"), Memory._fields.index("lines_3") + 1)

_GATHER = 0.7
_SCATTER = 1.2
"""Cycles per lane."""

_DEAD = 0.1
"""The part that is left of a statement whose results the next one overwrites."""

_BRANCH = 0.6
_ENTRY = 6.0


def estimate(
    place: Placement,
    vectors: Vectors,
    inner: Innermost,
    together: Body,
    recurrence: Recurrence,
    control: Control,
    threads: Threads,
    memory: Memory,
) -> Estimate:
    """The section `Estimate`: the larger of computing and moving, and overheads."""
    profile = place.profile
    lanes = max(1.0, vectors.lanes if vectors.marked else min(profile.lanes, vectors.values))
    free = not together.outer and not together.serial
    free &= not together.backward or together.backward >= lanes
    unrolled = place.innermost is not None and (place.loops[place.innermost].unroll or 1) > 1
    automatic = (
        not vectors.marked
        and not vectors.explicit
        and free
        and not unrolled
        and bool(control.in_step)
    )
    operations = sum(c * n for c, n in zip(_CYCLES, profile.operations, strict=True))
    scalar = max(operations, inner.loads / 2, inner.stores)
    scattered = vectors.load_reversed + vectors.load_short + vectors.load_far + vectors.load_page
    spread = vectors.store_reversed + vectors.store_short + vectors.store_far + vectors.store_page
    registers = max(1.0, vectors.registers)
    packed = (
        max(operations, inner.loads / 2, inner.stores) * registers / lanes
        + scattered * _GATHER
        + spread * _SCATTER
    )
    if vectors.marked:
        scalar = packed
    computing = max(min(scalar, packed) if automatic else scalar, 0.01)
    latency = recurrence.latency / (lanes if vectors.marked or automatic else 1.0)
    overhead = _BRANCH * control.iterations / (lanes if automatic else 1.0)
    overhead += _ENTRY * control.entries
    moved = [
        amount / speed + lines * latency
        for amount, speed, lines, latency in zip(
            memory[_MOVED], _BYTES_PER_CYCLE, memory[_LINES], _LATENCY, strict=True
        )
    ]
    parallel = max(1.0, threads.threads)
    cycles = max(
        computing / parallel,
        latency / parallel,
        moved[0] / parallel,
        moved[1] / parallel,
        moved[2] / min(parallel, _MEMORY_SHARE),
    )
    cycles += overhead / parallel
    cycles *= _DEAD if control.dead else 1.0
    seconds = cycles * max(1.0, profile.instances) / inner.repeats / HERTZ
    return Estimate._make((computing, latency, overhead, *moved, seconds))
