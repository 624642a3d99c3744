"""Strides of accesses along loops."""

from __future__ import annotations

import islpy as isl

from ...polyhedral.schedule_tree import Loop
from ...polyhedral.scop import Access, AccessKind, Statement
from ...schedules.schedule import Schedule


def is_contiguous(schedule: Schedule, loop: Loop) -> bool:
    """Whether vectors of the loop's iterations mostly access neighbours, or one element.

    All stores, and at least three quarters of the loads, step by one element or not at all.
    """
    loads: list[bool] = []
    for name, function in loop.schedule.items():
        statement = schedule.scop.statement(name)
        for access in statement.accesses:
            step = _step(statement, access, function)
            is_near = not any(step[:-1]) and abs(step[-1]) <= 1 if step else True
            if access.kind is AccessKind.READ:
                loads.append(is_near)
            elif not is_near:
                return False
    return 4 * sum(loads) >= 3 * len(loads)


def _step(statement: Statement, access: Access, function: isl.Aff) -> tuple[int, ...]:
    """How the subscripts change when the loop's value grows by one.

    The loop is taken to stand for the innermost iterator that its value depends on.
    """
    depth = len(statement.loops)
    used = [
        position
        for position in range(depth)
        if not function.get_coefficient_val(isl.dim_type.in_, position).is_zero()
    ]
    if not used:
        return tuple(0 for _ in access.map.results)
    symbols = [0] * access.map.num_symbols
    origin = [0] * depth
    moved = [int(position == used[-1]) for position in range(depth)]
    return tuple(
        result.eval(moved, symbols) - result.eval(origin, symbols) for result in access.map.results
    )
