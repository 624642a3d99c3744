"""Orders of a program in which loops use two arrays in turn instead of copying one back."""

from __future__ import annotations

from ..polyhedral.schedule_tree import Loop, nests, statements
from ..schedules.schedule import Schedule
from ..transformations.double_buffer import DoubleBuffer, copies_back
from .steps import attempt


def double_buffered(schedule: Schedule) -> Schedule | None:
    """The program with a buffer in each outermost loop that copies back; None if none can do so.

    for t: for i: B[i] = f(A)           for t: for i: P[i] = f(A)
           for i: A[i] = B[i]     ->           for i: A[i] = f(P)
    """
    result = schedule
    for nest in nests(schedule.tree):
        if isinstance(nest, Loop):
            name = f"{statements(nest)[0]}.{nest.name}"
            for copy in copies_back(schedule.scop, nest):
                is_of_one = any(0 in each.used_dims() for each in copy.target.map.results)
                if copy.target.array.scope_depth or is_of_one:
                    continue  # No iteration of the loop finds in it what another one has left.
                doubled = attempt(result, DoubleBuffer((name,), copy.statement.name))
                if doubled is not None:
                    result = doubled
                    break
    return None if result is schedule else result
