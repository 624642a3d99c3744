"""Code sinking: legality, results and messages."""

from __future__ import annotations

import numpy as np
import pytest
from support.scops import polybench, schedule_of

import loopwright
from loopwright.passes.polyhedral.schedule_tree import Loop, loops_around
from loopwright.passes.schedules.errors import IllegalTransformation, MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

# Forward substitution: x[j] needs all x[k] before it.
SOLVE = """
func.func @solve(%n: index, %L: memref<?x?xf64>, %b: memref<?xf64>, %x: memref<?xf64>) {
  affine.for %j = 0 to %n {
    affine.for %k = 0 to %j {
      %0 = affine.load %x[%j] : memref<?xf64>
      %1 = affine.load %L[%j, %k] : memref<?x?xf64>
      %2 = affine.load %x[%k] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = arith.subf %0, %3 : f64
      affine.store %4, %x[%j] : memref<?xf64>
    }
    %5 = affine.load %x[%j] : memref<?xf64>
    %6 = affine.load %L[%j, %j] : memref<?x?xf64>
    %7 = arith.divf %5, %6 : f64
    affine.store %7, %x[%j] : memref<?xf64>
  }
  return
}
"""

RIGHT_LOOKING = (
    "sink{loops=k at=j},interchange{loops=k,j},reorder{statements=S1,S0},distribute{loops=j},"
    "vectorize{loops=S0.j}"
)


def schedule(pipeline: str) -> Schedule:
    return schedule_of(SOLVE).apply_all(parse_pipeline(pipeline))


def test_what_runs_beside_the_loop_is_an_iteration_of_it() -> None:
    after = schedule("sink{loops=k at=j}")
    outer, inner = loops_around(after.tree, "S1")
    assert isinstance(after.tree, Loop)
    assert (outer.name, inner.name) == ("j", "k")
    values = {name: str(aff) for name, aff in inner.schedule.items()}
    assert values["S0"].endswith("[(k)] }")
    assert values["S1"].endswith("[(j)] }")


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_a_left_looking_recurrence_becomes_right_looking(n: int) -> None:
    """The division is in the way of interchanging the loops until it is inside of both."""
    with pytest.raises(MalformedTransformation, match="not directly inside each other"):
        schedule("interchange{loops=k,j}")
    with pytest.raises(IllegalTransformation):
        schedule("distribute{loops=j}")
    function = loopwright.load(SOLVE)["solve"]
    kernel = function.compile(RIGHT_LOOKING, verify=True)
    random = np.random.default_rng(n)
    # Small integers, which a fused multiplication and addition does not round otherwise.
    lower, right = random.integers(-1, 2, (n, n)) + 0.0, random.integers(-9, 9, n) + 0.0
    np.fill_diagonal(lower, random.choice([-1.0, 1.0], n))
    results = [right.copy(), right.copy()]
    for code, result in zip((kernel, function.compile()), results, strict=True):
        code(n, lower, right, result)
    np.testing.assert_array_equal(results[0], results[1])
    assert kernel.verdict is not None
    assert kernel.verdict.is_proved


def test_only_where_the_order_stays_legal() -> None:
    """The division is behind all terms of its row, and before what later rows do with it."""
    with pytest.raises(IllegalTransformation, match="flow dependence from S0 to S1 on x"):
        schedule("sink{loops=k at=j-2}")
    schedule("sink{loops=k at=j-1},interchange{loops=k,j}")
    schedule("sink{loops=k at=n}")
    with pytest.raises(IllegalTransformation, match="flow dependence from S1 to S0 on x"):
        schedule("sink{loops=k at=n},interchange{loops=k,j}")


def test_where_the_loop_would_run_before_what_it_needs() -> None:
    """gemm scales C[i, j] before it adds products: the scaling cannot be the last product."""
    gemm = Schedule.original(polybench("gemm"))
    gemm.apply_all(parse_pipeline("sink{loops=k at=0}"))
    with pytest.raises(IllegalTransformation, match="flow dependence from S0 to S1 on C"):
        gemm.apply_all(parse_pipeline("sink{loops=k at=1}"))


MALFORMED = [
    ("sink{loops=j at=0}", "sink of j: nothing runs beside j: nothing to sink"),
    ("sink{loops=k at=m}", "sink of k: there is no size m in 'm'; there are n; loops around are j"),
    ("sink{loops=j,k at=0}", "sink of j, k: name one loop"),
    ("unroll{loops=k factor=2},sink{loops=k at=j}", "sink of k: k is marked; sink first"),
]


@pytest.mark.parametrize(("pipeline", "message"), MALFORMED)
def test_messages(pipeline: str, message: str) -> None:
    with pytest.raises(MalformedTransformation) as caught:
        schedule(pipeline)
    assert message in str(caught.value)


def test_a_loop_of_the_same_name_beside_it() -> None:
    original = Schedule.original(polybench("2mm"))
    with pytest.raises(MalformedTransformation, match="a loop beside j has the same name"):
        original.apply_all(parse_pipeline("fuse{loops=S0.i,S2.i},sink{loops=S0.j at=0}"))
