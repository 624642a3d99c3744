"""First and last iterations are peeled where guards single them out: same instances, no guards."""

import numpy as np
import pytest
from support.nest_execution import run

from loopwright.lowering.nest.index_expression import (
    Comparison,
    Index,
)
from loopwright.lowering.nest.loop_peeling import peel_loops
from loopwright.lowering.nest.nest import Block, Call, For, Guard, Once, walk
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop
from loopwright.runtime.program import load

SUM, COLUMN, SIZE = (Index.variable(number) for number in range(3))


def guarded(condition: Comparison, upper: Index, *, is_parallel: bool = False) -> For:
    """For k in [2, upper): if condition: for j: vector: S0(k, j); for j: vector: S1(k, j)."""

    def vector(name: str) -> For:
        inner = Loop("j", {}, Leaf(name), vector=8)
        return For(inner, 1, (Index(0),), (Index(16),), 1, Call(name, (SUM, COLUMN)))

    body = Block((Guard(condition, vector("S0")), vector("S1")))
    loop = Loop("k", {}, Leaf("S1"), parallel=is_parallel)
    return For(loop, 0, (Index(2),), (upper,), 1, body)


FIRST = Comparison("==", SUM - 2)
LAST = Comparison(">=", SUM - SIZE + 1)


@pytest.mark.parametrize("condition", [FIRST, Comparison(">=", -SUM + 2), LAST], ids=str)
@pytest.mark.parametrize("size", [0, 2, 3, 4, 9])
def test_peeled_loops_run_the_same_instances_in_the_same_order(
    condition: Comparison, size: int
) -> None:
    nest = guarded(condition, SIZE)
    values = {2: size}
    peeled = peel_loops(nest)
    assert peeled != nest
    assert list(run(peeled, values)) == list(run(nest, values))


def test_no_guard_is_left_where_the_trip_count_is_known() -> None:
    assert not any(isinstance(node, Guard) for node in walk(peel_loops(guarded(FIRST, Index(9)))))


def test_a_loop_without_iterations_disappears() -> None:
    assert not any(isinstance(node, Once) for node in walk(peel_loops(guarded(FIRST, Index(2)))))


@pytest.mark.parametrize(
    "nest",
    [
        guarded(FIRST, SIZE, is_parallel=True),
        guarded(Comparison(">=", SUM - 4), SIZE),
        guarded(Comparison("==", SUM - 3), SIZE),
    ],
    ids=["parallel", "a range", "in the middle"],
)
def test_other_loops_stay(nest: For) -> None:
    assert peel_loops(nest) == nest


PRODUCT = """func.func @product(%n: index, %m: index, %p: index, %C: memref<?x?xf64>,
                                %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      affine.store %zero, %C[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %p {
        %c = affine.load %C[%i, %j] : memref<?x?xf64>
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %b = affine.load %B[%k, %j] : memref<?x?xf64>
        %ab = arith.mulf %a, %b : f64
        %s = arith.addf %c, %ab : f64
        affine.store %s, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}"""


@pytest.mark.parametrize("columns", [1, 3, 7, 8, 11, 37, 200])
@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_a_fused_product_is_the_product(columns: int, depth: int) -> None:
    (function,) = load(PRODUCT).values()
    kernel = function.compile(
        schedule="affine-schedule,interchange{loops=i,k,j},vectorize{loops=j width=8}", verify=True
    )
    random = np.random.default_rng(columns + depth)
    a, b = random.random((5, depth)), random.random((depth, columns))
    c = np.full((5, columns), 7.0)
    kernel(5, columns, depth, c, a, b)
    np.testing.assert_allclose(c, a @ b, rtol=1e-12)
