"""A rough estimate of each row, which a model then corrects."""

from __future__ import annotations

from .bodies import Body
from .loop_context import Placement
from .sections import Control, Estimate, Memory
from .statement_features import Alone

HERTZ = 4e9

_BYTES_PER_CYCLE = (50.0, 20.0, 5.0)
"""What a core gets from the caches of levels 2 and 3 and from memory."""

_LATENCY = (3.0, 10.0, 25.0)
"""Cycles for a line from there that nothing has fetched ahead, while others are under way."""

_MEMORY_SHARE = 1.15
"""How much faster several threads read from memory than one."""

_MOVED = slice(Memory._fields.index("moved_1"), Memory._fields.index("moved_3") + 1)
_LINES = slice(Memory._fields.index("lines_1"), Memory._fields.index("lines_3") + 1)

_DEAD = 0.1
"""The part that is left of a statement whose results the next one overwrites."""

_BRANCH = 0.6
_ENTRY = 6.0


def estimate(
    place: Placement, alone: Alone, together: Body, control: Control, memory: Memory
) -> Estimate:
    """The section `Estimate`: the larger of computing and moving, and overheads."""
    profile, times, vectors = place.profile, alone.times, alone.vectors
    lanes = times.lanes
    automatic = (
        not vectors.marked
        and not vectors.explicit
        and not times.unrolled
        and not together.outer
        and not together.serial
        and (not together.backward or together.backward >= lanes)
        and bool(control.in_step)
    )
    computing = max(min(times.scalar, times.packed) if automatic else times.scalar, 0.01)
    latency = alone.recurrence.latency / (lanes if vectors.marked or automatic else 1.0)
    overhead = _BRANCH * control.iterations / (lanes if automatic else 1.0)
    overhead += _ENTRY * control.entries
    moved = [
        amount / speed + lines * cycles
        for amount, speed, lines, cycles in zip(
            memory[_MOVED], _BYTES_PER_CYCLE, memory[_LINES], _LATENCY, strict=True
        )
    ]
    parallel = max(1.0, alone.threads.threads)
    cycles = max(
        computing / parallel,
        latency / parallel,
        moved[0] / parallel,
        moved[1] / parallel,
        moved[2] / min(parallel, _MEMORY_SHARE),
    )
    cycles += overhead / parallel
    cycles *= _DEAD if control.dead else 1.0
    seconds = cycles * max(1.0, profile.instances) / alone.inner.repeats / HERTZ
    return Estimate._make((computing, latency, overhead, *moved, seconds))
