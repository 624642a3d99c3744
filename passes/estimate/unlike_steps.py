"""Accesses of one array that LLVM cannot tell apart, as they have different steps along a loop.

for j:                                    Loads of row i - 1 stay along j, and the store moves:
  for k: s += A[i - 1, k] * B[k, j]       LLVM compares no rows. It has nothing to compare where
  A[i, j] = s                             the load is in front of loop j, because nothing inside
                                          of it moves what is loaded.
"""

from __future__ import annotations

from ..polyhedral.schedule_tree import Loop, leaves
from ..polyhedral.scop import AccessKind
from .scheduled_program import ScheduledProgram


def has_unlike_steps(program: ScheduledProgram, loop: Loop, outer: tuple[Loop, ...]) -> bool:
    """Whether a loop stores an array along it, and loads it in loops inside that stay along it."""
    stored: set[str] = set()
    loaded: set[str] = set()
    for leaf, loops in leaves(loop, outer):
        statement = program.statement(leaf.statement)
        along = statement.direction(loops, loop)
        inner = [statement.direction(loops, each) for each in loops[len(outer) + 1 :]]
        if along is None:
            continue
        for access in statement.statement.accesses:
            if access.is_opaque:
                continue
            moves = statement.stride(access, along, program.statistics) != 0
            if access.kind is AccessKind.WRITE and moves:
                stored.add(access.array.name)
            elif access.kind is AccessKind.READ and not moves:
                steps = (d and statement.stride(access, d, program.statistics) for d in inner)
                if any(steps):
                    loaded.add(access.array.name)
    return not stored.isdisjoint(loaded)
