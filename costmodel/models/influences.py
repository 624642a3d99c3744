"""Influence of feature sections on a prediction, by swapping them between two schedules.

The statements of a schedule get the section that they have under another schedule of the program:
how much slower the schedule would then be predicted to be is what the section contributes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.schedules.schedule import Schedule
from ..features.extract import rows_in_context
from ..features.row_columns import SLICES
from ..features.sections import LEVELS
from .learned_model import LOWEST, LearnedModel
from .statement_rows import ScheduleRows, StatementRows

GROUPS: Mapping[str, tuple[str, ...]] = {
    "vectors": ("vectors",),
    "trip counts": ("trip_counts",),
    "innermost loop": ("innermost", "body"),
    "recurrences": ("recurrence",),
    "loops around": ("outer", *(f"level{number}" for number in range(LEVELS))),
    "loop overhead": ("control",),
    "threads": ("threads",),
    "memory traffic": ("memory",),
    "roofline": ("estimate",),
}
"""Sections of a row that belong together, by what they are about."""


def influences(
    model: LearnedModel, context: SchedulingContext, schedule: Schedule, other: Schedule
) -> dict[str, float]:
    """How many times as fast each group makes a schedule against another one.

    The most decisive group first; nothing for models without rows of statements. Raises
    Unsupported.
    """
    if not isinstance(model.featuriser, StatementRows):
        return {}
    with ISL_LOCK:
        original = Schedule.original(
            schedule.program, schedule.target, reassociate=schedule.reassociate
        )
        names, own = _rows(schedule, context)
        other_names, others = _rows(other, context)
        _, written = _rows(original, context)
    pairs = [(names.index(name), n) for n, name in enumerate(other_names) if name in names]
    swapped = [own]
    for sections in GROUPS.values():
        rows = own.copy()
        for section in sections:
            for row, its in pairs:
                rows[row, SLICES[section]] = others[its, SLICES[section]]
        swapped.append(rows)
    scores = np.maximum(model.score([ScheduleRows(rows, written) for rows in swapped]), LOWEST)
    found = dict(zip(GROUPS, (float(scores[0] / score) for score in scores[1:]), strict=True))
    return dict(sorted(found.items(), key=lambda pair: -abs(np.log(pair[1]))))


def _rows(schedule: Schedule, context: SchedulingContext) -> tuple[list[str], NDArray[np.float32]]:
    places, rows = rows_in_context(schedule, context)
    return [place.profile.name for place in places], rows
