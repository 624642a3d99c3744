"""Matrix-vector products: which rows run together, on threads or not, and with the same results."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of
from support.targets import NARROW, WIDE

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.matrix_vector import matrix_vector
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

CHOICES = {
    # One thread: as many rows at a time as registers allow.
    ("atax", 1): ["unroll-and-jam{loops=S1.i factor=8}"],
    ("bicg", 1): ["unroll-and-jam{loops=S1.i factor=8}"],
    ("gesummv", 1): ["unroll-and-jam{loops=i factor=8}"],
    # Both products read the matrix once.
    ("mvt", 1): ["interchange{loops=S1.j,S1.i}", "fuse{loops=S0.i,S1.j}", "fuse{loops=j,i}"],
    # Threads have sums of their own where they add to the same vector.
    ("gesummv", 2): ["unroll-and-jam{loops=i factor=8}", "parallel{loops=it}"],
    ("atax", 2): ["rfactor{loops=it}", "parallel{loops=S1.it}"],
    ("bicg", 2): ["rfactor{loops=it}", "parallel{loops=S1.it}"],
    ("mvt", 2): ["fuse{loops=j,i}", "rfactor{loops=i2t}", "parallel{loops=S0.i2t}"],
    ("gemver", 2): ["fuse{loops=S0.j,S1.i}", "rfactor{loops=i2t}", "parallel{loops=it}"],
}


TRANSPOSED = """
func.func @product(%n: index, %m: index, %A: memref<?x?xf64>, %x: memref<?xf64>,
                   %y: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %a = affine.load %A[%i, %j] : memref<?x?xf64>
      %b = affine.load %x[%j] : memref<?xf64>
      %c = affine.load %y[%i] : memref<?xf64>
      %p = arith.mulf %a, %c : f64
      %s = arith.addf %b, %p : f64
      affine.store %s, %x[%j] : memref<?xf64>
    }
  }
  return
}
"""


def choose(kernel: str, size: str, threads: int, target: Target | None = None) -> Schedule:
    function = function_of(f"polybench/{kernel}")
    sizes = infer_extents(function.scop, catalogue()[f"polybench/{kernel}"].parameter_values(size))
    return default_schedule(function.scop, sizes, target, threads=threads, reassociate=True)


@pytest.mark.parametrize(("kernel", "threads"), CHOICES)
def test_choice(kernel: str, threads: int) -> None:
    steps = [str(step) for step in choose(kernel, "LARGE", threads, WIDE).transformations]
    assert [step for step in steps if step in CHOICES[kernel, threads]] == CHOICES[kernel, threads]


@pytest.mark.parametrize(("kernel", "threads"), CHOICES)
@pytest.mark.parametrize("size", ["MINI", "SMALL"])
def test_results_on_ragged_sizes(kernel: str, threads: int, size: str) -> None:
    check_run(f"polybench/{kernel}", choose(kernel, "LARGE", threads), size, fast_math=True)


def test_sums_in_another_order_need_permission() -> None:
    function = function_of("polybench/bicg")
    chosen = default_schedule(function.scop, {"m": 1900, "n": 2100}, threads=2)
    assert "rfactor" not in str(chosen)


def test_few_rows_of_a_wide_matrix() -> None:
    """Threads whose sums are as long as their rows would have nothing to gain."""
    function = function_of("polybench/bicg")
    chosen = default_schedule(
        function.scop,
        infer_extents(function.scop, {"m": 200_000, "n": 9}),
        threads=8,
        reassociate=True,
    )
    assert "rfactor" not in str(chosen)
    rng = np.random.default_rng(1)
    a, p, r = rng.random((9, 31)), rng.random(31), rng.random(9)
    s, q = np.zeros(31), np.zeros(9)
    function.compile(chosen, threads=2, fast_math=True)(31, 9, a, s, q, p, r)
    np.testing.assert_allclose(s, r @ a)
    np.testing.assert_allclose(q, a @ p)


@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "terms"), [(2048, 128), (2047, 131), (517, 400), (9, 6000)])
def test_product_with_a_matrix_of_one_column(
    fast_math: bool, threads: int, rows: int, terms: int
) -> None:
    entry = catalogue()["gemm/gemm"]
    function = function_of("gemm/gemm")
    sizes = {"M": rows, "N": 1, "K": terms}
    c, a, b = (array.create(sizes) for array in entry.arrays)
    expected = c + a @ b
    kernel = function.compile(threads=threads, fast_math=fast_math)
    kernel(rows, 1, terms, c, a, b)
    np.testing.assert_array_equal(c, expected)


def test_rows_of_a_matrix_are_no_sweeps_in_time() -> None:
    """`x[j] += A[i, j] * y[i]` reads another row of A in each iteration of its outer loop."""
    function = load(TRANSPOSED)["product"]
    sizes = infer_extents(function.scop, {"n": 400, "m": 8192})
    chosen = default_schedule(function.scop, sizes, WIDE, threads=1, reassociate=True)
    assert str(chosen) == "unroll-and-jam{loops=i factor=8}"


@pytest.mark.parametrize(("kernel", "factor"), [("atax", 8), ("mvt", 8), ("gesummv", 4)])
def test_sixteen_registers_hold_eight_rows_of_one_matrix(kernel: str, factor: int) -> None:
    """gesummv has two, and took 1.3 times as long with eight of each."""
    assert f"factor={factor}" in str(choose(kernel, "LARGE", 1, NARROW))


@pytest.mark.parametrize("kernel", ["gesummv", "atax"])
def test_matrices_are_streamed_by_two_threads_where_memory_is_slow(kernel: str) -> None:
    """One core with AVX2 does not get all that memory has to give: it was left as written."""
    size = "LARGE" if kernel == "gesummv" else "MEDIUM"
    assert "parallel" in str(choose(kernel, size, 2, NARROW))


def test_short_rows_are_streamed_four_at_a_time() -> None:
    function = load(TRANSPOSED)["product"]
    sizes = infer_extents(function.scop, {"n": 100_000, "m": 200})  # beyond the last cache
    chosen = default_schedule(function.scop, sizes, WIDE, threads=1, reassociate=True)
    assert str(chosen) == "unroll-and-jam{loops=i factor=4}"


ALIGNMENT = """
func.func @alignment(%n: index, %m: index, %x: memref<?xf32>, %y: memref<?xf32>,
                     %h: memref<?x?xf32>) {
  %gap = arith.constant 0.5 : f32
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %m {
      %0 = affine.load %h[%i - 1, %j] : memref<?x?xf32>
      %1 = affine.load %h[%i, %j - 1] : memref<?x?xf32>
      %2 = affine.load %h[%i - 1, %j - 1] : memref<?x?xf32>
      %3 = affine.load %x[%i] : memref<?xf32>
      %4 = affine.load %y[%j] : memref<?xf32>
      %5 = arith.mulf %3, %4 : f32
      %6 = arith.addf %2, %5 : f32
      %7 = arith.maximumf %0, %1 : f32
      %8 = arith.subf %7, %gap : f32
      %9 = arith.maximumf %8, %6 : f32
      affine.store %9, %h[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_rows_that_wait_for_each_other_are_few(kind: str) -> None:
    """Half as many as of a matrix whose rows add to one vector."""
    text = ALIGNMENT.replace("f32", kind)
    function = load(text)["alignment"]
    sizes = infer_extents(function.scop, {"n": 900, "m": 900})
    original = Schedule.original(function.scop, WIDE)
    chosen = matrix_vector(original, original.tree, SchedulingContext(sizes, 2))
    assert str(chosen) == "unroll-and-jam{loops=i factor=4}"
    dtype = {"f32": np.float32, "f64": np.float64}[kind]
    for n, m in ((1, 1), (5, 9), (38, 67)):
        generator = np.random.default_rng(n)
        x, y = (generator.normal(size=size).astype(dtype) for size in (n, m))
        table = generator.normal(size=(n, m)).astype(dtype)
        table[0, 0], table[-1, 0] = -0.0, np.nan
        expected = table.copy()
        function.compile(None, threads=1)(n, m, x, y, expected)
        function.compile(chosen, threads=2, verify=True)(n, m, x, y, table)
        np.testing.assert_array_equal(table, expected)


SCALED = """
func.func @scaled(%n: index, %m: index, %x: memref<?x?xTYPE>, %s: memref<?xTYPE>,
                  %y: memref<?x?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %a = affine.load %x[%i, %j] : memref<?x?xTYPE>
      %b = affine.load %s[%j] : memref<?xTYPE>
      %p = arith.mulf %a, %b : TYPE
      affine.store %p, %y[%i, %j] : memref<?x?xTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("threads", [1, 2])
def test_independent_rows_are_not_streamed_side_by_side(kind: str, threads: int) -> None:
    """There are no sums to share, and as many streams of results."""
    function = load(SCALED.replace("TYPE", kind))["scaled"]
    schedule, context = (
        Schedule.original(function.scop, WIDE),
        SchedulingContext(infer_extents(function.scop, {"n": 3136, "m": 256}), threads),
    )
    assert matrix_vector(schedule, schedule.tree, context) is None
