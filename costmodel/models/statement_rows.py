"""Featuriser of `additive`, `additive-network` and `ensemble`: one row per statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.schedules.schedule import Schedule
from ..features.extract import rows_of
from ..features.row_columns import FEATURES_VERSION, column
from ..learning.examples import ProgramExamples
from .forest import Matrix, Values

_SECONDS = column("estimate.seconds")
_FORKS = column("threads.forks")


class ScheduleRows(NamedTuple):
    """Rows of `features.row_columns.NAMES`: of the statements scheduled, and as written."""

    scheduled: Matrix
    original: Matrix


class StatementRows:
    """Featuriser: one row per statement."""

    schema = f"statements-{FEATURES_VERSION}"

    def featurise(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> list[ScheduleRows]:
        """The rows of each schedule."""
        if not schedules:
            return []
        first = schedules[0]
        with ISL_LOCK:
            written = Schedule.original(first.program, first.target, reassociate=first.reassociate)
            original, *scheduled = rows_of([written, *schedules], context)
            return [ScheduleRows(rows, original) for rows in scheduled]


def with_shared_originals(programs: Sequence[ProgramExamples]) -> list[ScheduleRows]:
    """The features of all pairs: stored ones have an original each, here those of a program one."""
    return [
        ScheduleRows(each.scheduled, program.features[0].original)
        for program in programs
        for each in program.features
    ]


@dataclass(frozen=True, eq=False)
class ScheduleBatch:
    """Concatenated rows of schedules; programs as written come last, without duplicates.

    Schedule n has the rows from `starts[n]` on; `originals[n]` is the number of its program among
    all (an entry each for the schedules, not for the programs as written).
    """

    rows: Matrix
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    originals: NDArray[np.int64]
    estimates: Values
    forks: Values

    @classmethod
    def of(cls, features: Sequence[ScheduleRows]) -> ScheduleBatch:
        numbers: dict[int, int] = {}
        written: list[Matrix] = []
        originals: list[int] = []
        for each in features:
            if id(each.original) not in numbers:
                numbers[id(each.original)] = len(features) + len(written)
                written.append(each.original)
            originals.append(numbers[id(each.original)])
        parts = [*(each.scheduled for each in features), *written]
        rows = np.concatenate(parts).astype(np.float32, copy=False)
        counts = np.array([len(part) for part in parts])
        starts = np.cumsum(counts) - counts
        estimates = rows[:, _SECONDS].astype(np.float64)
        forks = _sums(rows[:, _FORKS].astype(np.float64), starts, counts)
        return cls(rows, starts, counts, np.array(originals), estimates, forks)

    def sums(self, values: Values) -> Values:
        """The sum of some values per row, for each schedule."""
        return _sums(values, self.starts, self.counts)


def _sums(values: Values, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> Values:
    ends = np.concatenate([[0.0], np.cumsum(values)])
    return np.maximum(ends[starts + counts] - ends[starts], 1e-9)


def tree_inputs(rows: Matrix) -> Matrix:
    """What trees see: forks have a time of their own, which depends on the system only."""
    rows = rows.copy()
    rows[:, _FORKS] = 0.0
    return rows
