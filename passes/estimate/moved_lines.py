"""Cache lines that move between cores: one thread reads what several have written."""

from __future__ import annotations

from ..polyhedral.schedule_tree import Loop, loops, nests, statements
from ..schedules.schedule import Schedule
from .memory_traffic import MemoryTraffic
from .scheduled_program import ScheduledProgram
from .scheduling_context import SchedulingContext

MOVED_LINE = 1e-8
"""Seconds for each of many lines in order that another core has written (on a Granite Rapids)."""


def moved_line_seconds(schedule: Schedule, context: SchedulingContext) -> float:
    """Seconds that sequential nests wait for lines in the caches of other cores.

    Each of several threads has a part of what a nest before has written. Of a whole schedule:
    while nests are scheduled one after the other, those behind are not on threads yet.
    """
    threads, tree = context.threads, schedule.tree
    if threads == 1 or isinstance(tree, Loop) or not any(x.parallel for x in loops(tree)):
        return 0.0
    program = ScheduledProgram(schedule, context)
    traffic, machine = MemoryTraffic(program), program.machine
    seconds = 0.0
    written: set[str] = set()
    for nest in nests(tree):
        members = [program.statement(name).statement for name in statements(nest)]
        writes = {write.array.name for each in members for write in each.writes}
        if any(loop.parallel for loop in loops(nest)):
            written |= writes
            continue
        accessed = {access.array.name for each in members for access in each.accesses}
        moved = accessed & written
        if not moved:
            continue
        touched = traffic.touched(nest)
        for name in moved:
            elsewhere = touched[name] * (1 - 1 / threads)
            in_caches = min(elsewhere, machine.capacity(2) * (threads - 1))
            seconds += in_caches / machine.cache_line * MOVED_LINE
        written -= moved
    return seconds
