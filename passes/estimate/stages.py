"""Stages of a nest: loops that follow each other in a sequential one, shared by threads.

The threads wait behind each of them, so that the traffic of one does not overlap with the
operations of another. What one has left in the caches, the next ones find there:

    for strip:
      parallel i in strip: A[i] = f(X[i])      (all of X and A pass from memory)
      parallel i in strip: B[i] = g(A[i])      (all of B does)
"""

from __future__ import annotations

from collections.abc import Sequence

from ..polyhedral.schedule_tree import Loop, Tree, loops, statements
from ..polyhedral.schedule_tree import Sequence as Parts
from .scheduled_program import ScheduledProgram


def stages(nest: Loop) -> tuple[Loop, ...]:
    """The stages of a nest, or the nest alone."""
    tree: Tree = nest
    while isinstance(tree, Loop) and not tree.parallel:
        tree = tree.body
    children = tree.children if isinstance(tree, Parts) else ()
    found = tuple(child for child in children if isinstance(child, Loop))
    is_shared = any(loop.parallel for child in found for loop in loops(child))
    return found if len(found) > 1 and len(found) == len(children) and is_shared else (nest,)


def shares(program: ScheduledProgram, parts: Sequence[Loop]) -> list[float]:
    """The share of the traffic of a nest that each stage has, in seconds with all threads.

    Of the arrays that it is the first one to touch; of all of them in a stage on one thread, where
    other cores have a part of what was there before.
    """
    if len(parts) == 1:
        return [1.0]
    seen: set[str] = set()
    once: list[float] = []
    found: list[float] = []
    for part in parts:
        arrays = {
            access.array.name: program.statistics.bytes(access.array)
            for name in statements(part)
            for access in program.statement(name).statement.accesses
        }
        once.append(sum(size for name, size in arrays.items() if name not in seen))
        is_shared = any(loop.parallel for loop in loops(part))
        alone = program.context.threads * sum(arrays.values())
        found.append(once[-1] if is_shared else alone)
        seen |= arrays.keys()
    return [each / sum(once) for each in found]
