"""What bounds the time of a schedule, and which loops could run in parallel."""

from __future__ import annotations

from ..passes.estimate.estimate import estimate
from ..passes.estimate.in_core import InCoreTime
from ..passes.estimate.memory_traffic import MemoryTraffic
from ..passes.estimate.scheduled_program import ScheduledProgram
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.polyhedral.descriptions import describe_marks
from ..passes.polyhedral.isl_context import bounded
from ..passes.polyhedral.schedule_tree import Loop, leaves, loops, nests
from ..passes.schedules.errors import IllegalTransformation, TransformationError
from ..passes.schedules.schedule import Schedule
from ..passes.transformations.parallel import Parallel
from .records import Explanation, LoopExplanation, NestExplanation


def explain(schedule: Schedule, context: SchedulingContext) -> Explanation:
    """The analytical estimate by nest and level, and the dependences that loops carry.

    Raises TooComplexError.
    """
    with bounded():
        program = ScheduledProgram(schedule, context)
        return Explanation(
            str(schedule),
            estimate(schedule, context),
            tuple(_nest(program, nest) for nest in nests(schedule.tree) if isinstance(nest, Loop)),
            tuple(_loop(schedule, loop) for loop in loops(schedule.tree)),
        )


def _nest(program: ScheduledProgram, nest: Loop) -> NestExplanation:
    in_core = InCoreTime(program)
    computing = sum(in_core.seconds(leaf, outer) for leaf, outer in leaves(nest, ()))
    levels = list(program.machine.bandwidths)
    traffic = tuple(MemoryTraffic(program).seconds(nest))
    names = [f"L{level + 1}" if level < max(levels) else "memory" for level in levels]
    bounds = {"in-core": computing, **dict(zip(names, traffic, strict=True))}
    return NestExplanation(
        nest.statements,
        max(bounds.values()),
        computing,
        dict(zip(names, traffic, strict=True)),
        max(bounds, key=lambda name: bounds[name]),
    )


def _loop(schedule: Schedule, loop: Loop) -> LoopExplanation:
    name = schedule.short_name(loop)
    is_parallel, carries = True, None
    if not loop.parallel:
        try:
            schedule.apply(Parallel((name,)))
        except IllegalTransformation as error:
            dependence = error.violation.dependence
            is_parallel = False
            carries = (
                f"{dependence.kind.value} dependence from {dependence.source} to "
                f"{dependence.target} on {dependence.array}"
            )
        except TransformationError as error:
            is_parallel, carries = False, str(error)
    return LoopExplanation(name, loop.statements, tuple(describe_marks(loop)), is_parallel, carries)
