"""Loop retiming: order, results, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from support.scops import schedule_of

import loopwright
from loopwright.passes.polyhedral.schedule_tree import loops_around
from loopwright.passes.schedules.errors import MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

# Each pass takes the sum of an array, then changes it by that: the next sum needs the new values.
PASSES = """
func.func @passes(%n: index, %m: index, %s: memref<?xf64>, %x: memref<?xf64>) {
  affine.for %k = 0 to %n {
    affine.for %i = 0 to %m {
      %0 = affine.load %s[%k] : memref<?xf64>
      %1 = affine.load %x[%i] : memref<?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %s[%k] : memref<?xf64>
    }
    affine.for %i = 0 to %m {
      %3 = affine.load %x[%i] : memref<?xf64>
      %4 = affine.load %s[%k] : memref<?xf64>
      %5 = arith.subf %4, %3 : f64
      affine.store %5, %x[%i] : memref<?xf64>
    }
  }
  return
}
"""

ONE_PASS = "retime{loops=k after=S0},fuse{loops=S1.i,S0.i}"


def schedule(pipeline: str) -> Schedule:
    return schedule_of(PASSES).apply_all(parse_pipeline(pipeline))


def test_the_end_of_an_iteration_comes_first_in_the_next_one() -> None:
    after = schedule("retime{loops=k after=S0}")
    (values,) = {loops_around(after.tree, name)[0].name for name in ("S0", "S1")}
    loop = after.loop(values)
    assert tuple(loop.schedule) == ("S1", "S0")
    assert str(loop.schedule["S0"]).endswith("[(k)] }")
    assert str(loop.schedule["S1"]).endswith("[(1 + k)] }")


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 1), (1, 9), (2, 0), (5, 17)])
@pytest.mark.parametrize(
    "pipeline",
    [
        "retime{loops=k after=S0}",
        ONE_PASS,
        f"{ONE_PASS},strip-mine{{loops=i size=4}}",
        "strip-mine{loops=k size=2},retime{loops=k after=S0},fuse{loops=S1.i,S0.i}",
    ],
)
def test_results_stay(pipeline: str, n: int, m: int) -> None:
    function = loopwright.load(PASSES)["passes"]
    kernel = function.compile(pipeline, verify=True)
    sums, values = np.arange(n) + 0.5, np.linspace(-1, 1, m)
    results = [(sums.copy(), values.copy()) for _ in range(2)]
    for code, arrays in zip((kernel, function.compile(None)), results, strict=True):
        code(n, m, *arrays)
    for found, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert kernel.verdict is not None
    assert kernel.verdict.is_proved


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("retime{loops=k after=S1}", "cannot cut behind 'S1': name one of S0"),
        ("retime{loops=k after=S7}", "cannot cut behind 'S7': name one of S0"),
        ("retime{loops=S0.i after=S0}", "directly contains a single loop or statement"),
    ],
)
def test_where_there_is_nothing_to_retime(pipeline: str, message: str) -> None:
    with pytest.raises(MalformedTransformation, match=message):
        schedule(pipeline)
