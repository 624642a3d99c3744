"""The numbers of the performance model: what bounds each statement and each nest."""

from __future__ import annotations

from ..passes.estimate.estimate import nest_estimate
from ..passes.estimate.in_core import CoreCycles, InCoreTime
from ..passes.estimate.memory_traffic import MemoryTraffic
from ..passes.estimate.scheduled_program import ScheduledProgram
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.polyhedral.isl_context import ISL_LOCK
from ..passes.polyhedral.schedule_tree import Loop, leaves, nests, statements
from ..passes.schedules.schedule import Schedule
from ..runtime.measuring.timing import format_seconds
from ..support.markup import Markup, element, join, table


def model_numbers(schedule: Schedule, context: SchedulingContext) -> Markup:
    """Tables of cycles by statement, and of times by nest."""
    with ISL_LOCK:
        program = ScheduledProgram(schedule, context)
        return join((_statements(program), _nests(program)))


def _statements(program: ScheduledProgram) -> Markup:
    in_core = InCoreTime(program)
    rows = [
        [
            "statement",
            "instances",
            "lanes",
            "threads",
            "arithmetic",
            "loads and stores",
            "latency",
            "bound by",
        ]
    ]
    for nest in nests(program.schedule.tree):
        for leaf, outer in leaves(nest):
            cycles = in_core.cycles(leaf, outer)
            if cycles is not None:
                rows.append([leaf.statement, *_cells(cycles)])
    heading = element("h3", "Model: cycles for a vector of instances in a core")
    return join((heading, element("div", table(rows, numbers=True), class_="scroll")))


def _cells(cycles: CoreCycles) -> list[str]:
    bounds = {
        "arithmetic": cycles.operations,
        "loads and stores": cycles.accesses,
        "latency": cycles.latency,
    }
    return [
        f"{cycles.instances:,.0f}",
        f"{cycles.lanes:.3g}",
        f"{cycles.threads:.3g}",
        *(f"{value:.2f}" for value in bounds.values()),
        max(bounds, key=lambda name: bounds[name]),
    ]


def _nests(program: ScheduledProgram) -> Markup:
    traffic, in_core = MemoryTraffic(program), InCoreTime(program)
    levels = list(program.machine.bandwidths)
    names = [f"L{level + 1} to L{level}" for level in levels[:-1]] + ["memory"]
    rows = [["nest", "in the core", *names, "bound by", "in all"]]
    for nest in nests(program.schedule.tree):
        if not isinstance(nest, Loop):
            continue
        seconds = {"in the core": sum(in_core.seconds(leaf, outer) for leaf, outer in leaves(nest))}
        seconds |= dict(zip(names, traffic.seconds(nest), strict=True))
        rows.append(
            [
                f"{nest.name} around {', '.join(statements(nest))}",
                *map(format_seconds, seconds.values()),
                max(seconds, key=lambda name: seconds[name]),
                format_seconds(nest_estimate(program, nest)),
            ]
        )
    heading = element("h3", "Model: time of each nest, by what could bound it")
    words = (
        "In all: what bounds the nest, a part of the others, and what starting threads and waiting "
        "for them takes."
    )
    numbers = element("div", table(rows, numbers=True), class_="scroll")
    return join((heading, numbers, element("p", words, class_="note")))
