"""Private arrays inside of vector loops: one iteration of the loops inside at a time."""

import re
from typing import Any

import numpy as np
import pytest
from support.scops import schedule_of

from loopwright import load
from loopwright.passes.estimate.local_extents import stored_statistics
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.syntax.pipeline import parse_pipeline

STEPS = """
func.func @f(%A: memref<37x5x3xf32>, %B: memref<37x3xf32>) {
  affine.for %b = 0 to 37 {
    affine.for %t = 0 to 5 {
      %T = memref.alloca() : memref<3xf32>
      affine.for %i = 0 to 3 {
        %0 = affine.load %A[%b, %t, %i] : memref<37x5x3xf32>
        %1 = affine.load %B[%b, %i] : memref<37x3xf32>
        %2 = arith.mulf %0, %1 : f32
        affine.store %2, %T[%i] : memref<3xf32>
      }
      affine.for %j = 0 to 3 {
        %3 = affine.load %T[2 - %j] : memref<3xf32>
        affine.store %3, %B[%b, %j] : memref<37x3xf32>
      }
    }
  }
  return
}
"""

PIPELINES = [
    (None, {"3"}, None),
    ("vectorize{loops=b width=8}", {"3x37"}, 0),
    ("strip-mine{loops=b size=16},vectorize{loops=b width=16}", {"3x16"}, 0),
    ("strip-mine{loops=b size=16},vectorize{loops=b width=8}", {"3x16"}, 0),
    (
        "strip-mine{loops=b size=16},vectorize{loops=b width=8},unroll{loops=t factor=2}",
        {"3x16"},
        0,
    ),
    ("strip-mine{loops=b size=8},parallel{loops=bt},vectorize{loops=b width=8}", {"3x8"}, 0),
    ("split{loops=b at=20},vectorize{loops=S0_2.b width=4}", {"3", "3x17"}, 0),
    ("interchange{loops=t,b},vectorize{loops=b width=8}", {"3x37"}, 0),
    ("unroll{loops=i},unroll{loops=j},vectorize{loops=b width=8}", {"3x37"}, 0),
]


def results(pipeline: str | None) -> tuple[Any, str]:
    kernel = load(STEPS)["f"].compile(pipeline, threads=2, verify=pipeline is not None)
    generator = np.random.default_rng(0)
    source, result = (
        generator.random((37, 5, 3), np.float32),
        generator.random((37, 3), np.float32),
    )
    kernel(source, result)
    return result, kernel.specialise(source, result).code.loop_ir


@pytest.mark.parametrize("pipeline, shapes, innermost", PIPELINES)
def test_storage(pipeline: str | None, shapes: set[str], innermost: int | None) -> None:
    expected, _ = results(None)
    result, code = results(pipeline)
    assert np.array_equal(result, expected)
    assert set(re.findall(r"alloca?\(\).*memref<(.*)xf32>", code)) == shapes
    if innermost is not None and len(shapes) == 1:
        assert "vector.gather" not in "".join(re.findall(r".*%T.*", code))


@pytest.mark.parametrize("pipeline, shapes, innermost", PIPELINES)
def test_the_estimate_has_the_same_layout(
    pipeline: str | None, shapes: set[str], innermost: int | None
) -> None:
    schedule = schedule_of(STEPS).apply_all(parse_pipeline(pipeline or ""))
    statistics = stored_statistics(schedule, SchedulingContext({}, 1))
    assert statistics.innermost.get("T") == innermost
    assert statistics.expanded["T"][1:] == (1, 3)
