"""Coverage of the labels: which steps of schedules learned models have seen often.

A model rates whatever has features, and is wrong by orders of magnitude about what it has never
seen, as the split and skewed loops of a transposed convolution.
"""

from __future__ import annotations

from ..passes.schedules.schedule import Schedule

FREQUENT_STEPS = frozenset(
    (
        *("interchange", "tile", "parallel", "vectorize", "unroll", "affine-schedule", "fuse"),
        *("unroll-and-jam", "distribute", "skew", "reverse", "wavefront", "pack", "strip-mine"),
    )
)
"""Steps that more than 2,000 of the 506,000 labelled schedules have; any other has at most 200."""


def rare_steps(schedule: Schedule) -> tuple[str, ...]:
    """The steps of a schedule that labels hardly have, by name, each once."""
    names = dict.fromkeys(step.name for step in schedule.transformations)
    return tuple(name for name in names if name not in FREQUENT_STEPS)
