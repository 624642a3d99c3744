"""Feature extraction: rows for the schedules of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.machine.target import Target
from ...passes.machine.target_files import reference_machine
from ...passes.polyhedral.schedule_tree import Tree, nests
from ...passes.schedules.schedule import Schedule
from .bodies import body
from .loop_context import LoopContext
from .nests import NestedStatement
from .programs import profile_program
from .roofline_estimate import estimate
from .row_columns import NAMES
from .rows import control, memory, with_kilobytes
from .sections import Machine, Surroundings, execution, surroundings
from .statement_features import statement_features
from .statements import StatementProfile

_UNKNOWN_CACHE = reference_machine().last_cache
"""Bytes of a level of caches of which nothing is known."""

_PACKED = Struct(f"{len(NAMES)}d")
"""A row, as statements remember it."""


def rows_of(schedules: Sequence[Schedule], context: SchedulingContext) -> list[NDArray[np.float32]]:
    """Of each schedule, one row of `schema.NAMES` per statement that runs at all, in textual order.

    What is new is found out at one go, where schedules are of the same program.
    """
    profiles = [profile_program(schedule, context) for schedule in schedules]
    trees = [nests(schedule.tree) for schedule in schedules]
    together: dict[int, list[int]] = {}
    for number, profile in enumerate(profiles):
        together.setdefault(id(profile), []).append(number)
    placed: dict[int, list[tuple[NestedStatement, ...]]] = {}
    for numbers in together.values():
        found = iter(profiles[numbers[0]].nests.of([nest for n in numbers for nest in trees[n]]))
        placed.update((n, [next(found) for _ in trees[n]]) for n in numbers)
    return [
        _rows(placed[number], schedule, profile.total_bytes, context)
        for number, (schedule, profile) in enumerate(zip(schedules, profiles, strict=True))
    ]


def _rows(
    placed: Sequence[Sequence[NestedStatement]],
    schedule: Schedule,
    total_bytes: float,
    context: SchedulingContext,
) -> NDArray[np.float32]:
    how = execution(
        context.threads,
        all(item.place.vector is not None for nest in placed for item in nest if item.place.loops),
        sum(any(item.place.fork is not None for item in nest) for nest in placed),
        _machine(schedule.target),
    )
    around = surroundings(how, total_bytes, len(placed))
    rows = [_row(item, len(nest), around) for nest in placed for item in nest]
    numbers = np.frombuffer(b"".join(rows), dtype=np.float64)
    return numbers.astype(np.float32).reshape(len(rows), len(NAMES))


def rows_of_nests(
    schedule: Schedule, context: SchedulingContext, trees: Sequence[Tree]
) -> list[NDArray[np.float32]]:
    """Of each nest, taken for a whole program, what `rows_of` says; `trees` need not be legal.

    They are other orders of a nest of the schedule.
    """
    profile = profile_program(schedule, context)
    # Nobody comes back to these trees.
    placed = profile.nests.of(trees, is_kept=False)
    return [_rows([nest], schedule, profile.total_bytes, context) for nest in placed]


def rows_in_context(
    schedule: Schedule, context: SchedulingContext
) -> tuple[list[LoopContext], NDArray[np.float32]]:
    """The statements of a schedule that run at all, under their loops, and their rows."""
    (rows,) = rows_of([schedule], context)
    placed = profile_program(schedule, context).nests.of(nests(schedule.tree))
    return [item.place for nest in placed for item in nest], rows


def profiles_of(schedule: Schedule, context: SchedulingContext) -> Mapping[str, StatementProfile]:
    """What is known of the statements of a schedule without their loops, by name."""
    return profile_program(schedule, context).nests.statements


def _row(item: NestedStatement, statements: int, around: Surroundings) -> bytes:
    known = item.rows.get(around)
    if known is None:
        known = item.rows[around] = _make_row(item, statements, around)
    return known


def _make_row(item: NestedStatement, statements: int, around: Surroundings) -> bytes:
    own = statement_features(item.place, around.execution)
    together = body(item, around.execution)
    loops = control(item, own.loops, statements)
    data = memory(item, around, own.streams)
    return _PACKED.pack(
        *own.before_body,
        *together,
        *own.after_body,
        *loops,
        *own.threads,
        *data,
        *with_kilobytes(own.levels, item),
        *around.execution.machine,
        *estimate(item.place, own, together, loops, data),
    )


def _machine(target: Target) -> Machine:
    sizes = [target.caches.get(level, _UNKNOWN_CACHE) for level in (1, 2, 3)]
    return Machine._make(map(float, (*sizes, target.vector_bits)))
