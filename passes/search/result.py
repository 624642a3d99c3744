"""Tasks, progress and results of searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ...support.markup import MOST_COLUMNS, MOST_ROWS, element, join, notebook, table
from ...support.summaries import shortened, summary
from ..estimate.scheduling_context import SchedulingContext
from ..schedules.schedule import Schedule
from .protocols import CostModel, Evaluator, Ranker

Ended = Literal["done", "time", "interrupted"]
"""Why a search came to its end: nothing was left to ask, its time was up, or the user stopped it.
"""


@dataclass(frozen=True)
class Progress:
    """Progress of a search: counts, seconds, and the best schedule so far with its speed-up."""

    candidates: int
    predictions: int
    measurements: int
    seconds: float
    best: Schedule
    speedup: float


@dataclass(frozen=True)
class Task:
    """A program to schedule, with cost model and evaluator.

    `budget` is in seconds, None for as long as it takes. `known` was fast before: where something
    is run, that is, too. `default` is what others compare with, by default the analytical choice.
    `report` is called now and then.
    """

    original: Schedule
    context: SchedulingContext
    model: CostModel
    evaluator: Evaluator | None = None
    ranker: Ranker | None = None
    seed: int = 0
    budget: float | None = None
    known: tuple[Schedule, ...] = ()
    default: Schedule | None = None
    report: Callable[[Progress], None] = lambda _: None


@dataclass(frozen=True)
class PathStep:
    """A transformation, and the speed-up with all transformations up to it, if known."""

    step: str
    predicted: float | None
    measured: float | None


@dataclass(frozen=True)
class Result:
    """The best schedule of a search, its speed-up over the program as written, and the costs.

    `measured` is None where nothing was run, or the best is the program as written and was ended;
    so is `default`, the speed-up of the schedule that `default` means. `path` begins with the
    program as written.
    `candidates` is the number of different schedules that were looked at. `bound` are the seconds
    after which the program as written was ended: measured speed-ups are over these, and results
    were compared with those of the default schedule. `remarks` are for the user: what the search
    could not do here, a line each. `beats_known` says that none of the task's known schedules is
    faster than the best: they ran, and at the end.
    """

    best: Schedule
    predicted: float
    measured: float | None
    default: float | None
    path: tuple[PathStep, ...]
    candidates: int
    predictions: int
    measurements: int
    seconds: float
    ended: Ended
    bound: float | None = None
    remarks: tuple[str, ...] = ()
    beats_known: bool = False

    @property
    def speedup(self) -> float:
        """The measured speed-up, or the predicted one where nothing was run."""
        return self.predicted if self.measured is None else self.measured

    def __repr__(self) -> str:
        return summary(self, f"{self.speedup:.3g} times as fast: {self.best}")

    def _repr_html_(self) -> str:
        """The way to the best schedule, for notebooks."""
        rows = [["step", "predicted", "measured"]]
        for step in self.path[:MOST_ROWS]:
            cells = (f"{s:.2f}x" if s is not None else "-" for s in (step.predicted, step.measured))
            rows.append([shortened(step.step, MOST_COLUMNS), *cells])
        counts = (
            f"{self.candidates} schedules, {self.predictions} predictions, "
            f"{self.measurements} measurements in {self.seconds:.1f} s"
        )
        body = join((table(rows, numbers=True), element("p", counts)))
        return notebook(f"{self.speedup:.2f} times as fast", body, len(self.path))
