"""Strategy: partial results for threads, of reductions that all iterations of a nest add to."""

from __future__ import annotations

from ..estimate.parallel_profitability import LEAST_INSTANCES
from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, Tree, loops
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.parallel import Parallel
from ..transformations.rfactor import Rfactor
from ..transformations.strip_mine import StripMine
from .steps import attempt
from .thread_parts import part_size

PARTIAL_WORK = 16
"""Instances per element of the partial results that threads sum up, at least."""


def partial_sums(schedule: Schedule, nest: Tree, context: SchedulingContext) -> Schedule | None:
    """Shares out the outermost loop; each thread accumulates into a result of its own.

    Whole arrays are summed up so, compared, or searched for their extrema. The loops inside are
    left to LLVM.

    for i: s += x[i]      ->      parallel it: for i in part it: P[it] += x[i]
                                  for it: s += P[it]
    """
    if context.threads == 1 or not isinstance(nest, Loop):
        return None
    sums = [name for name in nest.schedule if name in schedule.dependences.accumulations]
    if not sums or any(loop.is_marked for loop in loops(nest)) or schedule.is_coincident(nest):
        return None
    statistics = context.statistics(schedule.scop)
    if sum(statistics.statements[name].instances for name in nest.schedule) < LEAST_INSTANCES:
        return None
    found = partial_results(schedule, sums[0], nest, context)
    return found and attempt(found[0], Parallel((f"{sums[0]}.{found[1]}",)))


def partial_results(
    schedule: Schedule, statement: str, nest: Loop, context: SchedulingContext, rows: int = 1
) -> tuple[Schedule, str] | None:
    """A loop in parts for threads, with partial results, and the name of the loop over parts.

    None where that is not legal, or takes long beside the rest.
    """
    statistics = context.statistics(schedule.scop)
    trips, most = max(
        (statistics.statements[name].trips((nest,))[0], name) for name in nest.schedule
    )
    size = part_size(statistics.statements[most], nest, trips, context.threads, rows)
    step = StripMine((f"{statement}.{nest.name}",), size)
    try:
        (part,) = step.resolve(schedule).new_loops(schedule)
        divided = schedule.apply(step)
        factored = divided.apply(Rfactor((f"{statement}.{part}",)))
    except TransformationError:
        return None
    return (factored, part) if _is_cheap(factored, divided, context) else None


def _is_cheap(factored: Schedule, before: Schedule, context: SchedulingContext) -> bool:
    """Whether the statements that make and combine partial results are few beside the others."""
    old = {statement.name for statement in before.scop.statements}
    statistics = context.statistics(factored.scop)
    own = sum(each.instances for name, each in statistics.statements.items() if name in old)
    added = sum(each.instances for name, each in statistics.statements.items() if name not in old)
    return own >= PARTIAL_WORK * added
