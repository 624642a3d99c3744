"""Directions of loops over quotients and remainders, which no linear system has.

for p = k mod 2: for e = y + k div 2: for y      ->      y: k goes back by 2, p: k goes on by 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import islpy as isl

from ..polyhedral.counting import fix_parameters
from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Statement


def exact_directions(
    loops: Sequence[Loop], statement: Statement, sizes: Mapping[str, int]
) -> dict[int, tuple[int, ...]]:
    """By how much the iterators grow when one loop goes to its next value, and no other one does.

    By the identities of the schedules; those that have none, as tile loops, are left out.
    """
    functions = [isl.Map.from_aff(loop.schedule[statement.name]) for loop in loops]
    values = fix_parameters(reduce(isl.Map.flat_range_product, functions), sizes)
    found: dict[int, tuple[int, ...]] = {}
    for position, loop in enumerate(loops):
        moved = values.apply_range(_step(position, len(loops)))
        deltas = moved.apply_range(values.reverse()).deltas()
        if not deltas.is_empty() and deltas.is_singleton():
            point = deltas.sample_point()
            found[id(loop.schedule)] = tuple(
                point.get_coordinate_val(isl.dim_type.set, d).to_python()
                for d in range(len(statement.loops))
            )
    return found


def _step(position: int, depth: int) -> isl.Map:
    """`{ [a, b, c] -> [a, b + 1, c] }`, among values of so many loops."""
    before = [f"v{number}" for number in range(depth)]
    after = [f"{name} + {int(number == position)}" for number, name in enumerate(before)]
    return isl.Map(f"{{ [{', '.join(before)}] -> [{', '.join(after)}] }}")
