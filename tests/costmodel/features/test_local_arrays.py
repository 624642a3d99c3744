"""Scalars inside of loops: what storage keeps of them under other loops."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.costmodel.features.extract import rows_of
from loopwright.costmodel.features.row_columns import NAMES
from loopwright.costmodel.original import original_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.syntax.pipeline import parse_pipeline

N, M = 48, 160
TEXT = """
func.func @sums(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %sum = memref.alloca() : memref<f64>
      affine.store %zero, %sum[] : memref<f64>
      affine.for %k = 0 to %n {
        %s = affine.load %sum[] : memref<f64>
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %t = arith.addf %s, %a : f64
        affine.store %t, %sum[] : memref<f64>
      }
      %r = affine.load %sum[] : memref<f64>
      affine.store %r, %B[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""
SIZES = {"n": N, "m": M, "A_dim0": N, "A_dim1": N, "B_dim0": N, "B_dim1": M}


def accumulating(steps: str) -> dict[str, float]:
    """The row of the statement that adds."""
    schedule = original_schedule(TEXT).apply_all(parse_pipeline(steps) if steps else ())
    rows = rows_of([schedule], SchedulingContext(SIZES, 1))[0]
    number = int(np.argmax(rows[:, NAMES.index("work.instances")]))
    return dict(zip(NAMES, rows[number].tolist(), strict=True))


def test_as_written_a_scalar_stays_in_a_register() -> None:
    row = accumulating("")
    assert row["innermost.store_same"] == 1
    assert row["memory.own"] < 1.1 * N * N * 8


@pytest.mark.parametrize(
    ("steps", "elements"),
    [
        ("affine-schedule{fusion=minimal}", N * M),
        ("distribute{loops=j}", M),
        ("distribute{loops=j},interchange{loops=S1.j,S1.k}", M),
        ("distribute{loops=j},distribute{loops=i}", N * M),
        ("tile{loops=i,j sizes=8,8}", 0),
        ("tile{loops=i,j sizes=8,16},distribute{loops=j}", 16),
        ("tile{loops=i,j sizes=8,16},distribute{loops=j},distribute{loops=i}", 8 * 16),
    ],
)
def test_what_lies_between_loops_is_kept(steps: str, elements: int) -> None:
    kept = accumulating(steps)["memory.own"] - accumulating("")["memory.own"]
    assert kept == pytest.approx(8 * elements, abs=64 * 8)


def test_along_a_kept_dimension_elements_follow_each_other() -> None:
    row = accumulating("distribute{loops=j},interchange{loops=S1.k,S1.j}")
    assert row["innermost.store_next"] == 1 and row["innermost.stores"] == 1
