"""Candidates of a search that have the same code: they run once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from loopwright import load
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import Function
from loopwright.runtime.tuning.evaluator import RunningEvaluator
from loopwright.runtime.tuning.trial_messages import Outcome, Trial

SIZES = {"n": 24, **{f"{array}_dim{k}": 24 for array in "AB" for k in (0, 1)}}

TWO = """
func.func @two(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : memref<?x?xf64>
      %s = arith.addf %a, %a : f64
      affine.store %s, %B[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %k = 0 to %n {
    affine.for %l = 0 to %n {
      %b = affine.load %B[%l, %k] : memref<?x?xf64>
      %t = arith.mulf %b, %b : f64
      affine.store %t, %A[%k, %l] : memref<?x?xf64>
    }
  }
  return
}
"""


def two() -> Function:
    return load(TWO)["two"]


def schedules(texts: Sequence[str]) -> list[Schedule]:
    original = Schedule.original(two().scop)
    return [original.apply_all(parse_pipeline(text)) for text in texts]


def test_equal_code_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trials: list[Trial] = []
    ask = RunningEvaluator._ask  # pyright: ignore[reportPrivateUsage]

    def listen(evaluator: RunningEvaluator, trial: Trial, limit: float) -> Outcome:
        trials.append(trial)
        return ask(evaluator, trial, limit)

    monkeypatch.setattr(RunningEvaluator, "_ask", listen)
    texts = [
        "interchange{loops=l,k}",
        "interchange{loops=j,i},interchange{loops=i,j},interchange{loops=l,k}",
        "tile{loops=i,j sizes=4,4}",
    ]
    values = [24, np.arange(576.0).reshape(24, 24), np.zeros((24, 24))]
    with RunningEvaluator(two(), values, threads=1, compilers=1) as evaluator:
        context = SchedulingContext(SIZES, 1)
        first, same, _ = evaluator.measure(context, schedules(texts))
        assert first == same
        assert len(trials) == 1 + 2
        evaluator.measure(context, schedules(texts[:1]))
        assert len(trials) == 1 + 3  # the same schedule again is a measurement of its own
