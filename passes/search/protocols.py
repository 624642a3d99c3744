"""Protocols that searches depend on: cost model, ranker, evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Protocol, runtime_checkable

from ..estimate.scheduling_context import SchedulingContext
from ..schedules.schedule import Schedule


class CostModel(Protocol):
    """Predicts speed-ups of schedules."""

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[float]:
        """The speed-up of each schedule over its program as written, on one thread.

        All schedules are of one program; `context` binds its sizes and the number of threads.
        """
        ...


@runtime_checkable
class Committee(Protocol):
    """A cost model that is an ensemble of independently trained members.

    Where they differ, they have seen too little of the kind.
    """

    def opinions(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> Sequence[Sequence[float]]:
        """Per member the speed-up of each schedule, as `CostModel.predict`."""
        ...


@runtime_checkable
class Ranker(Protocol):
    """Ranks schedules without predicting speed-ups."""

    def rank(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[int]:
        """The positions of some schedules of one program, the fastest one's first."""
        ...


class Evaluator(Protocol):
    """Measures speed-ups of schedules by running them."""

    def measure(
        self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
    ) -> Sequence[float]:
        """The speed-up of each schedule, like `CostModel.predict`; 0.0 where one cannot be run.

        Only of the first ones where `seconds` do not suffice for all.
        """
        ...
