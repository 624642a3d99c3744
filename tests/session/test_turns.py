"""What a busy machine does to one turn is no speed-up and no slow-down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load
from loopwright.runtime.tuning.evaluator import RunningEvaluator
from loopwright.session.turns import measure_in_turns


class Runs:
    """Stands for an evaluator: the seconds of all runs, by schedule, in order."""

    def __init__(
        self, base: float, seconds: Mapping[str, Sequence[float]], bound: float | None = None
    ) -> None:
        self.baseline_seconds = base
        self.bound = bound
        self._seconds = {name: iter(each) for name, each in seconds.items()}

    def measure(self, _: SchedulingContext, schedules: Sequence[Schedule]) -> list[float]:
        found = [next(self._seconds[str(schedule)]) for schedule in schedules]
        return [self.baseline_seconds / each if each else 0.0 for each in found]


STEP = "interchange{loops=k,S1.j}"


@pytest.mark.parametrize(
    ("base", "written", "scheduled", "bound", "answer"),
    [
        (4e-3, [4e-3] * 3, [8e-3, 4e-3, 8e-3, 8e-3], None, (1.0, 4e-3)),
        (8e-3, [8e-3, 4e-3, 4e-3], [2e-3] * 4, None, (2.0, 4e-3)),
        (4e-3, [4e-3] * 3, [0], None, (0.0, 4e-3)),
        (4e-3, [4e-3] * 3, [2e-3, 2e-3, 0, 0], None, (0.0, 4e-3)),
        (1.0, [], [0.5], None, (2.0, 1.0)),
        (4e-3, [], [2e-3], 4e-3, (2.0, 4e-3)),
    ],
    ids=["busy later", "busy at first", "fails", "fails later", "long", "ended"],
)
def test_the_shortest_runs_of_both_count(
    base: float,
    written: list[float],
    scheduled: list[float],
    bound: float | None,
    answer: tuple[float, float],
) -> None:
    gemm = load(catalogue()["polybench/gemm"].text)["gemm"]
    plain, step = gemm.schedule(""), gemm.schedule(STEP)
    runs = cast(RunningEvaluator, Runs(base, {"": written, str(step): scheduled}, bound))
    found = measure_in_turns(runs, cast(SchedulingContext, None), plain, step)
    assert found == pytest.approx(answer)
