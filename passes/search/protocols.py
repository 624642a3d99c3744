"""What a search asks, whether a learned model answers or a run of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..default.request import Request
from ..schedule import Schedule


class CostModel(Protocol):
    """Tells how fast schedules are without running them."""

    @property
    def name(self) -> str:
        """The model's name, as users write it."""
        ...

    def predict(self, request: Request, schedules: Sequence[Schedule]) -> Sequence[float]:
        """The speed-up of each schedule over its program as written, on one thread.

        All schedules are of one program; `request` binds its sizes and the number of threads.
        """
        ...


class Evaluator(Protocol):
    """Tells how fast schedules are by compiling and running them."""

    def measure(self, request: Request, schedules: Sequence[Schedule]) -> Sequence[float]:
        """The speed-up of each schedule, like `CostModel.predict`; 0.0 where one cannot be run."""
        ...
