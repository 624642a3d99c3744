"""Coverage of the labels: which steps of schedules learned models have seen often.

A model rates whatever has features, and is wrong by orders of magnitude about what it has never
seen, as the split and skewed loops of a transposed convolution.
"""

from __future__ import annotations

from ..passes.estimate.loops_around import has_conditions
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.polyhedral.schedule_tree import leaves
from ..passes.schedules.schedule import Schedule

FREQUENT_STEPS = frozenset(
    (
        *("interchange", "tile", "parallel", "vectorize", "unroll", "affine-schedule", "fuse"),
        *("unroll-and-jam", "distribute", "skew", "reverse", "wavefront", "pack", "strip-mine"),
    )
)
"""Steps that more than 2,000 of the 506,000 labelled schedules have; any other has at most 200."""


DIVERGENT_LANES = "vectors of different iterations inside"
"""When schedules were labelled, such vector loops stayed scalar; now they have masks."""


def rare_steps(schedule: Schedule, context: SchedulingContext) -> tuple[str, ...]:
    """The steps of a schedule that labels hardly have, by name, each once."""
    names = dict.fromkeys(step.name for step in schedule.transformations)
    rare = tuple(name for name in names if name not in FREQUENT_STEPS)
    return (*rare, DIVERGENT_LANES) if _has_divergent_lanes(schedule, context) else rare


def _has_divergent_lanes(schedule: Schedule, context: SchedulingContext) -> bool:
    statements = context.statistics(schedule.scop).statements
    return any(
        has_conditions(statements[leaf.statement], outer, loop)
        for leaf, outer in leaves(schedule.tree)
        for loop in outer[:-1]
        if loop.vector is not None
    )
