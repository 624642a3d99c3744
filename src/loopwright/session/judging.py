"""Whether a step is legal; why not, with a witness; and what would be legal instead."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from ..passes.polyhedral.isl_context import TooComplexError
from ..passes.polyhedral.schedule_tree import Loop, loops, statements
from ..passes.schedules.errors import (
    IllegalTransformation,
    MalformedTransformation,
    TransformationError,
)
from ..passes.schedules.schedule import Schedule, Steps, Transformation
from ..passes.schedules.violation import Violation, Witness
from ..passes.syntax.pipeline import parse_pipeline
from ..passes.transformations.distribute import Distribute
from .problems import problem_of
from .records import Instance, Kind, LegalityAnswer, Repair, ViolationFacts

MOST_REPAIRS = 5
"""Repairs that are offered; each was tried."""

REPAIR_SECONDS = 5.0
"""Time after which no other repair is looked for."""


def judge(schedule: Schedule, step: str) -> tuple[LegalityAnswer, Schedule | None]:
    """Whether the steps of a text are legal after a schedule, and the schedule with them.

    Raises SourceError for a text that is no pipeline.
    """
    current = schedule
    steps = parse_pipeline(step)
    for number, each in enumerate(steps):
        try:
            current = current.apply(each)
        except TransformationError as error:
            rest = steps[number + 1 :]
            repairs = _repairs(current, each, rest, error)
            problem = problem_of(error)
            if problem.remedy is None and repairs and repairs[0].kind != "fast-math":
                problem = replace(problem, remedy=f"{repairs[0].steps} is legal")
            answer = LegalityAnswer(False, None, problem, _violation(error), repairs)
            return answer, None
    return LegalityAnswer(True, str(current), None, None, ()), current


def _violation(error: TransformationError) -> ViolationFacts | None:
    if not isinstance(error, IllegalTransformation):
        return None
    found: Violation = error.violation
    dependence = found.dependence
    try:
        witness = found.witness()
    except (TooComplexError, isl.Error):
        witness = Witness((), (), {})
    return ViolationFacts(
        dependence.kind.value,
        dependence.array,
        Instance(dependence.source, dict(witness.source)),
        Instance(dependence.target, dict(witness.target)),
        witness.sizes,
        found.reason.value.format(loop=found.loop).removeprefix("but "),
        found.loop,
    )


def _repairs(
    schedule: Schedule, failed: Transformation, rest: Steps, error: TransformationError
) -> tuple[Repair, ...]:
    """What can be applied in place of the step, followed by the others where they then can."""
    end = time.monotonic() + REPAIR_SECONDS
    found: dict[str, Repair] = {}
    for kind, base, steps in _candidates(schedule, failed, error):
        try:
            repaired = base.apply_all((*steps, *rest))
        except TransformationError:
            continue
        text = ",".join(map(str, (*steps, *rest)))
        found.setdefault(str(repaired), Repair(text, str(repaired), kind))
        if len(found) == MOST_REPAIRS or time.monotonic() > end:
            break
    return tuple(found.values())


def _candidates(
    schedule: Schedule, failed: Transformation, error: TransformationError
) -> Iterator[tuple[Kind, Schedule, Steps]]:
    """A kind of repair, the schedule that it goes on from, and steps that were tried or not."""
    if isinstance(error, MalformedTransformation):
        for steps in _separations(schedule, failed):
            yield "before", schedule, steps
        return
    resolved = failed.resolve(schedule)
    relaxed = None if schedule.reassociate else _reassociating(schedule)
    if relaxed is not None and relaxed.legal(resolved):
        yield "fast-math", relaxed, (resolved,)
    for steps in schedule.legal_repairs(resolved):
        is_wanted = len(steps) > 1 and steps[-1] == resolved
        yield "before" if is_wanted else "instead", schedule, steps
    if relaxed is not None and not relaxed.legal(resolved):
        for steps in relaxed.legal_repairs(resolved):
            if not schedule.legal_all(steps):
                yield "fast-math", relaxed, steps


def _reassociating(schedule: Schedule) -> Schedule | None:
    """The same schedule where sums may be reassociated."""
    original = Schedule.original(schedule.program, schedule.target, reassociate=True)
    try:
        return original.apply_all(schedule.transformations)
    except TransformationError:
        return None


def _separations(schedule: Schedule, failed: Transformation) -> Iterator[Steps]:
    """The step after a loop around its own has been distributed: these are then nested directly.

    What was one loop are several then: the names are those of the loops around one statement.
    """
    names = [name.rpartition(".")[2] for name in failed.loops]
    for loop in loops(schedule.tree):
        if _contains(loop, set(names)):
            before = Distribute((schedule.short_name(loop),))
            yield (before, failed)
            for one in statements(loop):
                yield (before, replace(failed, loops=tuple(f"{one}.{name}" for name in names)))


def _contains(loop: Loop, names: set[str]) -> bool:
    return bool(names & {inner.name for inner in (loop, *loops(loop.body))})
