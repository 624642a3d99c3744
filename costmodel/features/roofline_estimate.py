"""Roofline estimate of a feature row on the reference machine: the baseline that models correct."""

from __future__ import annotations

from ...passes.estimate.roofline import roofline
from ...passes.machine.target_files import reference_machine
from .bodies import Body
from .loop_context import LoopContext
from .sections import Control, Estimate, Memory
from .statement_features import StatementFeatures

_MACHINE = reference_machine()

_BYTES_PER_CYCLE = tuple(_MACHINE.bandwidths[level] / _MACHINE.hertz for level in (1, 2, 3))
_LATENCIES = tuple(_MACHINE.line_latencies[level] for level in (1, 2, 3))

_MEMORY_SHARE = _MACHINE.memory_bandwidth / _MACHINE.bandwidths[3]
"""How much faster several threads read from memory than one."""

_MOVED = slice(Memory._fields.index("moved_1"), Memory._fields.index("moved_3") + 1)
_LINES = slice(Memory._fields.index("lines_1"), Memory._fields.index("lines_3") + 1)

_DEAD = 0.1
"""The part that is left of a statement whose results the next one overwrites."""


def estimate(
    place: LoopContext,
    statement: StatementFeatures,
    together: Body,
    control: Control,
    memory: Memory,
) -> Estimate:
    """The section `Estimate`: the larger of computing and moving, and overheads."""
    profile, times, vectors = place.profile, statement.times, statement.vectors
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
    latency = statement.recurrence.latency / (lanes if vectors.marked or automatic else 1.0)
    overhead = _MACHINE.branch_cycles * control.iterations / (lanes if automatic else 1.0)
    overhead += _MACHINE.loop_entry_cycles * control.entries
    moved = [
        amount / speed + lines * cycles
        for amount, speed, lines, cycles in zip(
            memory[_MOVED], _BYTES_PER_CYCLE, memory[_LINES], _LATENCIES, strict=True
        )
    ]
    parallel = max(1.0, statement.threads.threads)
    near, far, memory_cycles = moved
    cycles = roofline(
        max(computing, latency) / parallel,
        (near / parallel, far / parallel, memory_cycles / min(parallel, _MEMORY_SHARE)),
    )
    cycles += overhead / parallel
    cycles *= _DEAD if control.dead else 1.0
    seconds = cycles * max(1.0, profile.instances) / statement.inner.repeats / _MACHINE.hertz
    return Estimate._make((computing, latency, overhead, *moved, seconds))
