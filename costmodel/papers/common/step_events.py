"""Effects of schedule steps on statements, in terms of their iterators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ....passes.estimate.program_statistics import ProgramStatistics
from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.schedule_tree import leaves, loops_around, statements
from ....passes.polyhedral.scop import Scop
from ....passes.schedules.schedule import Schedule, Transformation
from ....passes.transformations.registry import own_transformations
from ...learning.schedule_history import history_of
from .loop_iterators import iterators

KINDS: tuple[str, ...] = tuple(own_transformations())
"""Every kind of step that these models know, in alphabetical order; plug-ins have no features."""


@dataclass(frozen=True)
class Event:
    """A step's effect on a statement: the iterators of its loops, with a parameter for each.

    A parameter is what the step has per loop: size, width, factor, offset, new position.
    """

    kind: str
    parameters: tuple[tuple[int, float], ...]


_Parameters = Callable[[Any, int], Sequence[float]]

PARAMETERS: Mapping[str, _Parameters] = {
    "diamond": lambda step, count: [step.size] * count,
    "interchange": lambda step, count: range(1, count + 1),
    "shift": lambda step, count: [step.offset] * count,
    "skew": lambda step, count: [0, *step.factors],
    "strip-mine": lambda step, count: [step.size] * count,
    "tile": lambda step, count: step.sizes,
    "unroll": lambda step, count: [step.factor] * count,
    "unroll-and-jam": lambda step, count: [step.factor] * count,
    "vectorize": lambda step, count: [step.width or 0] * count,
    "wavefront": lambda step, count: step.factors,
}
"""One number per loop of a step; 1 for kinds that are not here."""

Events = Mapping[str, tuple[Event, ...]]


@dataclass
class _Memory:
    """Cache of one program's events by prefix of steps."""

    known: dict[tuple[Transformation, ...], Events] = field(
        default_factory=dict[tuple[Transformation, ...], Events]
    )


def events_of(context: SchedulingContext, schedule: Schedule) -> list[Events]:
    """For every step, what it does to the statements there are before it."""
    program = schedule.program
    memory = cast(_Memory, program.memory.setdefault("events", _Memory()))
    states = history_of(program).states(schedule)
    result: list[Events] = []
    for count, step in enumerate(schedule.transformations):
        key = schedule.transformations[: count + 1]
        if key not in memory.known:
            memory.known[key] = _events(context, states[count], step, states[count + 1])
        result.append(memory.known[key])
    return result


def _events(
    context: SchedulingContext, before: Schedule, step: Transformation, after: Schedule
) -> Events:
    if step.name == "affine-schedule":
        return _new_order(context.statistics(after.scop), after)
    if not step.loops:
        return {name: (Event(step.name, ()),) for name in getattr(step, "statements", ())}
    statistics = context.statistics(before.scop)
    chosen = getattr(step, "statements", ())
    found = before.find_loops(step.loops)
    numbers = PARAMETERS.get(step.name, lambda _, count: [1.0] * count)(step, len(found))
    result: dict[str, tuple[Event, ...]] = {}
    for name in dict.fromkeys(name for loop in found for name in statements(loop)):
        if chosen and name not in chosen:
            continue
        around = loops_around(before.tree, name)
        places = {id(loop): place for place, loop in enumerate(around)}
        own = iterators(statistics.statements[name], around)
        parameters = [
            (iterator, float(number))
            for loop, number in zip(found, numbers, strict=True)
            if id(loop) in places and (iterator := own[places[id(loop)]]) is not None
        ]
        result[name] = (Event(step.name, tuple(parameters)),)
    return result


def _new_order(statistics: ProgramStatistics, after: Schedule) -> Events:
    """One event per loop of a statement: how its value grows with the iterators."""
    return {
        leaf.statement: tuple(
            Event(
                "affine-schedule",
                tuple(
                    (iterator, float(slope))
                    for iterator, slope in enumerate(
                        statistics.statements[leaf.statement].slopes(loop)
                    )
                    if slope
                ),
            )
            for loop in around
        )
        for leaf, around in leaves(after.tree)
    }


def event_lists(
    context: SchedulingContext, schedule: Schedule, scop: Scop
) -> dict[str, list[Event]]:
    """All events of every statement of `scop` (one that a step has led to), in order.

    A statement that a step has made of another one has the events of that one before.
    """
    result: dict[str, list[Event]] = {}
    steps = events_of(context, schedule)
    names = {name for events in steps for name in events} | {s.name for s in scop.statements}
    for statement in scop.statements:
        lineage = _lineage(statement.name, names)
        result[statement.name] = [
            event
            for events in steps
            for event in next((events[name] for name in lineage if name in events), ())
        ]
    return result


def _lineage(name: str, names: set[str]) -> list[str]:
    """The statement and those that it was split from: `S0_2_2`, `S0_2`, `S0`."""
    result = [name]
    while "_" in name:
        name = name.rpartition("_")[0]
        if name in names:
            result.append(name)
    return result
