"""Solving with a triangular matrix: which programs are recognised, and the same results."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of
from support.targets import WIDE

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.triangular_solve import triangular_solve
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

SOLVE = """
func.func @solve(%n: index, %L: memref<?x?xTYPE>, %b: memref<?xTYPE>, %x: memref<?xTYPE>) {
  affine.for %i = FIRST to %n {
    %0 = affine.load %b[%i] : memref<?xTYPE>
    affine.store %0, %x[%i] : memref<?xTYPE>
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      %l = affine.load %L[%i, %j] : memref<?x?xTYPE>
      %s = affine.load %x[%j] : memref<?xTYPE>
      %p = arith.mulf %l, %s : TYPE
      %o = affine.load %x[%i] : memref<?xTYPE>
      %d = arith.subf %o, %p : TYPE
      affine.store %d, %x[%i] : memref<?xTYPE>
    }
    %e = affine.load %x[%i] : memref<?xTYPE>
    %f = affine.load %L[%i, %i] : memref<?x?xTYPE>
    %g = arith.divf %e, %f : TYPE
    affine.store %g, %x[%i] : memref<?xTYPE>
  }
  return
}
"""


def solve(element: str, first: int = 0) -> str:
    return SOLVE.replace("TYPE", element).replace("FIRST", str(first))


def scheduled(text: str, *, reassociate: bool = False) -> Schedule | None:
    scop = load(text)["solve"].scop
    original = Schedule.original(scop, reassociate=reassociate)
    context = SchedulingContext(infer_extents(scop, {"n": 900}), 1)
    return triangular_solve(original, original.tree, context)


def test_what_the_default_schedule_takes() -> None:
    function = function_of("polybench/trisolv")
    sizes = infer_extents(function.scop, {"n": 2000})
    chosen = default_schedule(function.scop, sizes, WIDE, threads=2)
    assert str(chosen).startswith(
        "strip-mine{loops=i size=16},split{loops=j at=16it},distribute{loops=i after=S0,S1},"
    )


def test_strips_also_where_sums_may_have_any_order() -> None:
    """One strip of vectors for all rows of a strip is shorter than a sum in lanes for each row."""
    assert str(scheduled(solve("f64"), reassociate=True)) == str(scheduled(solve("f64")))


def test_products_that_only_share_a_matrix_are_left_to_others() -> None:
    original = Schedule.original(function_of("polybench/atax").scop, reassociate=True)
    sizes = infer_extents(original.scop, {"m": 900, "n": 900})
    for nest in nests(original.tree):
        assert triangular_solve(original, nest, SchedulingContext(sizes, 1)) is None


@pytest.mark.parametrize("reassociate", [False, True])
def test_a_unit_diagonal(reassociate: bool) -> None:
    unit = SOLVE[: SOLVE.index("    %e =")] + SOLVE[SOLVE.index("  }\n  return") :]
    text = unit.replace("TYPE", "f64").replace("FIRST", "0")
    found = scheduled(text, reassociate=reassociate)
    assert found is not None
    function = load(text)["solve"]
    generator = np.random.default_rng(3)
    lower, right = generator.integers(-1, 2, (50, 50)) / 4, generator.integers(-9, 9, 50) / 1.0
    results = [np.zeros(50), np.zeros(50)]
    for schedule, result in zip((str(found), None), results, strict=True):
        function.compile(schedule, fast_math=reassociate)(50, lower, right, result)
    np.testing.assert_allclose(*results, rtol=1e-9, atol=1e-9)


def test_rows_that_do_not_wait_for_each_other_are_left_to_others() -> None:
    text = solve("f64").replace("%s = affine.load %x[%j]", "%s = affine.load %b[%j]")
    assert scheduled(text) is None


@pytest.mark.parametrize("size", ["MINI", "SMALL"])
def test_results_of_a_benchmark(size: str) -> None:
    function = function_of("polybench/trisolv")
    chosen = default_schedule(function.scop, infer_extents(function.scop, {"n": 2000}), threads=1)
    check_run("polybench/trisolv", chosen, size)


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 33, 100])
def test_every_term_is_subtracted_in_its_turn(element: str, first: int, n: int) -> None:
    """Values are small integers, and so large that another order of the terms is rounded away."""
    text = solve(element, first)
    chosen = scheduled(text)
    assert chosen is not None
    dtype = np.dtype(element.replace("f", "float"))
    random = np.random.default_rng(n)
    large = 2.0 ** (22 if element == "f32" else 51)
    matrix = random.choice([0.0, 1.0, -1.0], (n, n)).astype(dtype)
    np.fill_diagonal(matrix, random.choice([1.0, 2.0, 0.5], n))
    b = random.choice([1.0, large, -5.0, 3.0], n).astype(dtype)
    start = random.choice([1.0, 2.0], n).astype(dtype)
    x, expected = start.copy(), start.copy()
    for i in range(first, n):
        expected[i] = b[i]
        for j in range(i):
            expected[i] -= matrix[i, j] * expected[j]
        expected[i] /= matrix[i, i]
    load(text)["solve"].compile(str(chosen))(n, matrix, b, x)
    np.testing.assert_array_equal(x, expected)
