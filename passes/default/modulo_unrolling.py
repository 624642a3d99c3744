"""Orders of a program in which time loops with remainders of their iterations are unrolled by them.

Time loops carry dependences. Rows of images that differ by remainders are better left alone.
"""

from __future__ import annotations

from ..polyhedral.schedule_tree import Loop, nests, statements
from ..schedules.schedule import Schedule
from ..transformations.modulo_unroll import LARGEST, ModuloUnroll, period
from .steps import attempt


def modulo_unrolled(schedule: Schedule) -> Schedule | None:
    """The program with time loops unrolled by their periods; None if there are none.

    for t: A[(t + 1) mod 2] = f(A[t mod 2])     ->      for t: A[1] = f(A[0])
                                                               A[0] = f(A[1])
    """
    result = schedule
    for nest in nests(schedule.tree):
        if not isinstance(nest, Loop) or schedule.is_coincident(nest):
            continue
        if 1 < period(schedule.scop, nest) <= LARGEST:
            name = f"{statements(nest)[0]}.{nest.name}"
            result = attempt(result, ModuloUnroll((name,))) or result
    return None if result is schedule else result
