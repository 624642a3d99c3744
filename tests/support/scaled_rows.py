"""Labels of a small program that the estimates of the additive models are wrong about."""

from __future__ import annotations

import numpy as np

from loopwright.costmodel.learning.examples import ProgramExamples
from loopwright.costmodel.models.additive import Additive
from loopwright.costmodel.models.learned_model import LearnedModel
from loopwright.costmodel.original import original_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.syntax.pipeline import parse_pipeline

TEXT = """
func.func @scale(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %b = affine.load %B[%i, %j] : memref<?x?xf64>
      %s = arith.addf %b, %b : f64
      affine.store %s, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""
SCHEDULES = (
    "interchange{loops=j,i}",
    "tile{loops=i,j sizes=8,32}",
    "vectorize{loops=j width=8}",
    "vectorize{loops=j width=32}",
    "reverse{loops=i}",
    "unroll{loops=j factor=4}",
)


def sizes(n: int, m: int) -> dict[str, int]:
    """Values of all sizes."""
    return {"n": n, "m": m, "A_dim0": n, "A_dim1": m, "B_dim0": n, "B_dim1": m}


def examples(count: int) -> list[ProgramExamples]:
    """Programs whose vectors of 32 are three times slower than estimated, whose tiles twice."""
    model = Additive({})
    found: list[ProgramExamples] = []
    for number in range(count):
        context = SchedulingContext(sizes(40 + 7 * number, 64 + 32 * (number % 5)), 1)
        original = original_schedule(TEXT)
        schedules = [original.apply_all(parse_pipeline(text)) for text in SCHEDULES]
        features = model.featuriser.featurise(context, schedules)
        speedups = model.score(features)
        speedups[SCHEDULES.index("vectorize{loops=j width=32}")] /= 3
        speedups[SCHEDULES.index("tile{loops=i,j sizes=8,32}")] /= 2
        censored = np.zeros(len(SCHEDULES), dtype=bool)
        found.append(
            ProgramExamples(
                str(number), TEXT, "test", SCHEDULES, speedups, censored, tuple(features)
            )
        )
    return found


def errors(model: LearnedModel, programs: list[ProgramExamples]) -> float:
    """The mean error of the predictions, as a share."""
    found = [
        np.abs(model.score(program.features) / program.speedups - 1).mean() for program in programs
    ]
    return float(np.mean(found))
