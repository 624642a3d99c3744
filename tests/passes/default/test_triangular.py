"""Triangular products get register tiles, and keep their results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.targets import WIDE

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.triangular import triangular
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops, loops_around
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

# C[i, j] += A[i, k] * B[k, j] below the diagonal of C, in another order and under other names
LOWER = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %row = 0 to %n {
    affine.for %x = 0 to %m {
      affine.for %column = 0 to affine_map<(d0) -> (d0 + 1)>(%row) {
        %0 = affine.load %C[%row, %column] : memref<?x?xf64>
        %1 = affine.load %A[%row, %x] : memref<?x?xf64>
        %2 = affine.load %B[SUBSCRIPTS] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.addf %0, %3 : f64
        affine.store %4, %C[%row, %column] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


def large(function: Function, size: int) -> dict[str, int]:
    values = {parameter.name: size for parameter in function.scop.parameters}
    return infer_extents(function.scop, values)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("subscripts", ["%x, %column", "%column, %x"])
@pytest.mark.parametrize(("n", "m"), [(1, 3), (24, 8), (37, 21), (61, 300)])
def test_results_over_a_triangle(subscripts: str, threads: int, n: int, m: int) -> None:
    function = loopwright.load(LOWER.replace("SUBSCRIPTS", subscripts))["f"]
    original = Schedule.original(function.scop)
    context = SchedulingContext(large(function, 1000), threads)
    schedule = triangular(original, original.tree, context)
    assert schedule is not None
    tiled = {loop.name: loop for loop in loops(schedule.tree)}
    assert tiled["row"].unroll == 0
    assert tiled["column"].vector == schedule.target.lanes(function.scop.arrays[0].element_type)
    assert ("pack" in str(schedule)) == (subscripts == "%column, %x")
    assert any(loop.parallel for loop in loops(schedule.tree)) == (threads > 1)
    check(function, schedule, subscripts, threads, n, m)


def check(
    function: Function,
    schedule: Schedule,
    subscripts: str,
    threads: int,
    n: int,
    m: int,
    *factors: float,
) -> None:
    """The schedule's results are NumPy's."""
    generator = np.random.default_rng(n * m)
    left = generator.random((n, m))
    right = generator.random((m, n) if subscripts == "%x, %column" else (n, m))
    result = generator.random((n, n))
    product = left @ (right if subscripts == "%x, %column" else right.T)
    expected = result + np.prod(factors) * np.tril(product)
    function.compile(schedule, threads=threads)(n, m, *factors, left, right, result)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("subscripts", ["%x, %column", "%column, %x"])
def test_large_operands_are_packed_where_their_terms_are_far_apart(
    subscripts: str, threads: int
) -> None:
    function = loopwright.load(LOWER.replace("SUBSCRIPTS", subscripts))["f"]
    caches = {1: 1 << 12, 2: 1 << 14, 3: 1 << 20}
    target = replace(Target.host(), caches=caches)
    original = Schedule.original(function.scop, target)
    schedule = triangular(
        original, original.tree, SchedulingContext(large(function, 1000), threads)
    )
    assert schedule is not None
    assert "array=B" in str(schedule)
    assert "array=A" not in str(schedule), "its terms lie together"
    check(function, schedule, subscripts, threads, 61, 300)


@pytest.mark.parametrize("subscripts", ["%x, %column", "%column, %x"])
def test_products_with_a_scalar_are_made_once(subscripts: str) -> None:
    text = (
        LOWER.replace("SUBSCRIPTS", subscripts)
        .replace("%m: index,", "%m: index, %factor: f64,")
        .replace(
            "%3 = arith.mulf %1, %2", "%5 = arith.mulf %1, %factor : f64\n%3 = arith.mulf %5, %2"
        )
    )
    function = loopwright.load(text)["f"]
    original = Schedule.original(function.scop)
    schedule = triangular(original, original.tree, SchedulingContext(large(function, 1000), 1))
    assert schedule is not None
    assert "scaled=true" in str(schedule)
    check(function, schedule, subscripts, 1, 61, 300, 0.75)


def test_a_product_and_its_transposed_have_copies_of_their_own() -> None:
    entry = catalogue()["polybench/syrk"]
    function = loopwright.load(entry.text)[entry.function]
    sizes = infer_extents(function.scop, entry.parameter_values("LARGE"))
    steps = str(default_schedule(function.scop, sizes, threads=1))
    assert steps.count("pack{") == 2
    assert steps.count("scaled=true") == 1


def test_all_reads_use_the_only_copy() -> None:
    entry = catalogue()["polybench/syr2k"]
    function = loopwright.load(entry.text)[entry.function]
    sizes = infer_extents(function.scop, entry.parameter_values("LARGE"))
    steps = str(default_schedule(function.scop, sizes, threads=1))
    assert steps.count("pack{") == 2
    assert "reads=" not in steps


def test_one_read_of_several_has_a_copy_of_its_own() -> None:
    text = """
func.func @f(%n: index, %m: index, %alpha: f64, %A: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %m {
      affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
        %0 = affine.load %C[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%k, %i] : memref<?x?xf64>
        %2 = arith.mulf %alpha, %1 : f64
        %3 = affine.load %A[%k, %j] : memref<?x?xf64>
        %4 = arith.mulf %2, %3 : f64
        %5 = arith.addf %0, %4 : f64
        affine.store %5, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
    function = loopwright.load(text)["f"]
    original = Schedule.original(function.scop)
    schedule = triangular(original, original.tree, SchedulingContext(large(function, 400), 1))
    assert schedule is not None
    assert "scaled=true reads=" in str(schedule)
    matrix = np.random.default_rng(3).random((70, 45))
    result = np.zeros((45, 45))
    function.compile(schedule)(45, 70, 0.5, matrix, result)
    np.testing.assert_allclose(result, np.tril(0.5 * matrix.T @ matrix), rtol=1e-12)


def test_both_products_of_symm_have_register_tiles() -> None:
    """One of them accumulates into a scalar of the program, of which each iteration has a copy."""
    entry = catalogue()["polybench/symm"]
    function = loopwright.load(entry.text)[entry.function]
    sizes = infer_extents(function.scop, entry.parameter_values("LARGE"))
    schedule = default_schedule(function.scop, sizes, WIDE, threads=2)
    assert len([1 for loop in loops(schedule.tree) if loop.vector and loop.unroll == 0]) == 2


@pytest.mark.parametrize("kernel", ["symm", "syrk", "trmm", "covariance"])
def test_threads_are_not_started_for_every_row_of_a_copy(kernel: str) -> None:
    entry = catalogue()[f"polybench/{kernel}"]
    function = loopwright.load(entry.text)[entry.function]
    sizes = infer_extents(function.scop, entry.parameter_values("LARGE"))
    target = Target.named("sapphirerapids")
    schedule = default_schedule(function.scop, sizes, target, threads=2, reassociate=True)
    copies = [name for loop in loops(schedule.tree) for name in loop.schedule if "pack" in name]
    assert copies
    for copy in set(copies):
        around = loops_around(schedule.tree, copy)
        outside = [loop for loop in around if len(loop.schedule) > 1]
        assert around[len(outside)].parallel


def test_small_triangles_and_boxes_are_left_alone() -> None:
    function = loopwright.load(LOWER.replace("SUBSCRIPTS", "%x, %column"))["f"]
    original = Schedule.original(function.scop)
    assert triangular(original, original.tree, SchedulingContext(large(function, 50), 1)) is None
    text = LOWER.replace("affine_map<(d0) -> (d0 + 1)>(%row)", "%n").replace("SUBSCRIPTS", "%x, %x")
    box = loopwright.load(text)["f"]
    schedule = Schedule.original(box.scop)
    assert triangular(schedule, schedule.tree, SchedulingContext(large(box, 1000), 1)) is None


@pytest.mark.parametrize(
    "kernel", ["trmm", "syrk", "syr2k", "symm", "covariance", "lu", "cholesky", "ludcmp"]
)
def test_default_schedules_of_kernels_have_register_tiles(kernel: str) -> None:
    entry = catalogue()[f"polybench/{kernel}"]
    function = loopwright.load(entry.text)[entry.function]
    sizes = infer_extents(function.scop, entry.parameter_values("LARGE"))
    schedule = default_schedule(function.scop, sizes, threads=2, reassociate=True)
    tiles = [loop for loop in loops(schedule.tree) if loop.vector and loop.unroll == 0]
    assert tiles, str(schedule)
    arguments = entry.arguments("MINI")
    expected = entry.arguments("MINI")
    function.compile(schedule, fast_math=True, threads=2)(*arguments)
    function.compile(None, fast_math=True)(*expected)
    for result, wanted in zip(arguments, expected, strict=True):
        if isinstance(result, np.ndarray) and isinstance(wanted, np.ndarray):
            _close(result, wanted)


def _close(result: NDArray[Any], expected: NDArray[Any]) -> None:
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


ROW_SUMS = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to %n {
      affine.for %k = 0 to %n {
        %0 = affine.load %A[%i] : memref<?xf64>
        %1 = affine.load %B[%j, %k] : memref<?x?xf64>
        %2 = arith.addf %0, %1 : f64
        affine.store %2, %A[%i] : memref<?xf64>
      }
    }
  }
  return
}
"""


def test_a_sum_over_two_loops_is_no_triangular_product() -> None:
    function = loopwright.load(ROW_SUMS)["f"]
    original = Schedule.original(function.scop)
    assert triangular(original, original.tree, SchedulingContext(large(function, 100), 1)) is None


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("first", ["%A[%k, %i]", "%A[%i, %k]"])
def test_products_in_place_that_fit_in_caches_have_register_tiles(kind: str, first: str) -> None:
    """Of which the results are the same, and proved."""
    entry = catalogue()["polybench/trmm"]
    text = entry.text.replace("%A[%k, %i]", first).replace("f64", kind)
    function = loopwright.load(text)["trmm"]
    sizes = infer_extents(function.scop, entry.parameter_values("MEDIUM"))
    chosen = str(default_schedule(function.scop, sizes, Target.named("zen4"), threads=1))
    assert "unroll{loops=S0.i,S0.j}" in chosen
    random = np.random.default_rng(5)
    a, b = (random.random((37, n)).astype(f"f{int(kind[1:]) // 8}") for n in (37, 41))
    expected, result = b.copy(), b.copy()
    function.compile(None)(37, 41, 1.5, a, expected)
    function.compile(chosen, verify=True)(37, 41, 1.5, a, result)
    np.testing.assert_array_equal(result, expected)
