"""Sums that keep the order of their terms: rows in lanes, and the same results to the last bit."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.strict_order_reductions import strict_order_reductions
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops_around, nests, statements
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

KERNELS = {
    # The sum of each row, and what needs it: S2 and S3 in loops of their own already.
    "atax": ("S2", ["distribute{loops=S1.i}"]),
    # Two statements in the same two loops.
    "bicg": ("S3", ["distribute{loops=S1.i}", "distribute{loops=S2.i,j}"]),
    # Two sums of the same rows, on threads.
    "gesummv": ("S2", ["distribute{loops=i}", "distribute{loops=S2.i,j}", "parallel{loops=it}"]),
}

BOTH = """
func.func @both(%n: index, %m: index, %A: memref<?x?xTYPE>, %x: memref<?xTYPE>, %y: memref<?xTYPE>,
                %z: memref<?xTYPE>, %w: memref<?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %a = affine.load %A[%i, %j] : memref<?x?xTYPE>
      %y0 = affine.load %y[%j] : memref<?xTYPE>
      %p = arith.mulf %a, %y0 : TYPE
      %x0 = affine.load %x[%i] : memref<?xTYPE>
      %s = arith.addf %x0, %p : TYPE
      affine.store %s, %x[%i] : memref<?xTYPE>
      %w0 = affine.load %w[%i] : memref<?xTYPE>
      %q = arith.mulf %a, %w0 : TYPE
      %z0 = affine.load %z[%j] : memref<?xTYPE>
      %t = arith.addf %z0, %q : TYPE
      affine.store %t, %z[%j] : memref<?xTYPE>
    }
  }
  return
}
"""


def scheduled(kernel: str, *, reassociate: bool = False, threads: int = 2) -> Schedule | None:
    function = function_of(f"polybench/{kernel}")
    values = catalogue()[f"polybench/{kernel}"].parameter_values("LARGE")
    original = Schedule.original(function.scop, reassociate=reassociate)
    name = KERNELS[kernel][0]
    nest = next(nest for nest in nests(original.tree) if name in statements(nest))
    return strict_order_reductions(
        original, nest, SchedulingContext(infer_extents(function.scop, values), threads)
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_choice(kernel: str) -> None:
    chosen = scheduled(kernel)
    name, wanted = KERNELS[kernel]
    assert chosen is not None
    steps = [str(step) for step in chosen.transformations]
    assert [step for step in steps if step in wanted] == wanted
    lanes = chosen.target.lanes(chosen.scop.arrays[0].element_type)
    assert f"vectorize{{loops={name}.i width={lanes}}}" in steps
    assert scheduled(kernel, reassociate=True) is None


@pytest.mark.parametrize(("n", "m"), [(900, 900), (1024, 512), (300, 2000)])
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_sums_of_columns_leave_the_rows_to_threads(element: str, n: int, m: int) -> None:
    """Every row adds to the same elements: threads take columns there, and rows elsewhere."""
    function = load(BOTH.replace("TYPE", element))["both"]
    original = Schedule.original(function.scop)
    context = SchedulingContext(infer_extents(function.scop, {"n": n, "m": m}), 2)
    chosen = strict_order_reductions(original, original.tree, context)
    assert chosen is not None
    parallel = [
        [loop.name for loop in loops_around(chosen.tree, name) if loop.parallel]
        for name in ("S0", "S1")
    ]
    assert parallel == [["it"], ["jt"]]
    (part,) = (step for step in chosen.transformations if "strip-mine{loops=S1.j" in str(step))
    size = int(str(part).partition("size=")[2].rstrip("}"))
    assert m / size > context.threads, "no two threads write to both sides of a border all the time"
    random = np.random.default_rng(0)
    shapes = [(37, 131), (37,), (131,), (131,), (37,)]
    arrays = [random.random(shape).astype(element.replace("f", "float")) for shape in shapes]
    others = [array.copy() for array in arrays]
    function.compile(chosen, threads=2, verify=True)(37, 131, *arrays)
    function.compile("")(37, 131, *others)
    for one, other in zip(arrays, others, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("m", "together"), [(528, True), (512, False)])
def test_rows_in_turn_where_their_lines_compete(m: int, together: bool) -> None:
    function = load(BOTH.replace("TYPE", "f64"))["both"]
    original = Schedule.original(function.scop, Target.named("zen4"))
    context = SchedulingContext(infer_extents(function.scop, {"n": 900, "m": m}), 1)
    chosen = strict_order_reductions(original, original.tree, context)
    assert chosen is not None
    steps = [str(step) for step in chosen.transformations]
    assert ("interchange{loops=S1.j,S1.i}" in steps) == together


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("size", ["MINI", "SMALL"])
def test_results_on_ragged_sizes(kernel: str, size: str) -> None:
    check_run(f"polybench/{kernel}", scheduled(kernel), size)


def test_sums_of_integers_need_no_order() -> None:
    text = BOTH.replace("TYPE", "i32").replace("mulf", "muli").replace("addf", "addi")
    original = Schedule.original(load(text)["both"].scop)
    sizes = infer_extents(original.scop, {"n": 900, "m": 900})
    assert strict_order_reductions(original, original.tree, SchedulingContext(sizes, 1)) is None


def test_rows_that_are_apart_are_no_neighbours() -> None:
    """Lanes would gather what the loop as written loads at once."""
    text = BOTH.replace("TYPE", "f64").replace("0 to %n", "0 to %n step 4")
    original = Schedule.original(load(text)["both"].scop)
    context = SchedulingContext(infer_extents(original.scop, {"n": 3600, "m": 900}), 1)
    assert strict_order_reductions(original, original.tree, context) is None
    statement = context.statistics(original.scop).statements["S0"]
    loops = loops_around(original.tree, "S0")
    assert [statement.direction(loops, loop) for loop in loops] == [(4, 0), (0, 1)]


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (16, 16), (17, 31), (33, 200), (200, 33), (67, 67)])
def test_every_term_is_added_in_its_turn(element: str, n: int, m: int) -> None:
    """Values are such that sums in another order differ, and products are exact."""
    function = load(BOTH.replace("TYPE", element))["both"]
    original = Schedule.original(function.scop)
    sizes = infer_extents(function.scop, {"n": 900, "m": 900})
    chosen = strict_order_reductions(original, original.tree, SchedulingContext(sizes, 1))
    assert chosen is not None
    random = np.random.default_rng(n * m)
    dtype = np.dtype(element.replace("f", "float"))
    large = 2.0 ** (22 if element == "f32" else 51)
    a = random.choice([1.0, large, -5.0, 3.0], (n, m)).astype(dtype)
    y, w = random.choice([1.0, 2.0], m).astype(dtype), random.choice([1.0, 0.5], n).astype(dtype)
    x, z = np.zeros(n, dtype), np.zeros(m, dtype)
    rows, columns = x.copy(), z.copy()
    for j in range(m):
        rows += a[:, j] * y[j]
    for i in range(n):
        columns += a[i] * w[i]
    if n == m == 67:
        assert not np.array_equal(rows, (a * y).sum(axis=1)), "the order matters"
    function.compile(chosen)(n, m, a, x, y, z, w)
    np.testing.assert_array_equal(x, rows)
    np.testing.assert_array_equal(z, columns)


def test_sums_that_keep_their_order_run_in_lanes() -> None:
    function = function_of("gemm/gemm")
    sizes = infer_extents(function.scop, {"M": 2048, "N": 1, "K": 128})
    ordered = default_schedule(function.scop, sizes, threads=1)
    lanes = ordered.target.lanes(function.scop.arrays[0].element_type)
    assert str(ordered).startswith("interchange{loops=j,i,k}")
    assert f"vectorize{{loops=i width={lanes}}}" in str(ordered)
    sizes = infer_extents(function.scop, {"M": 20480, "N": 1, "K": 1280})
    zen = Target.named("zen4")
    relaxed = default_schedule(function.scop, sizes, zen, threads=1, reassociate=True)
    assert str(relaxed) == "interchange{loops=j,i,k},unroll-and-jam{loops=i factor=4}"


NORMALISED = """
func.func @normalised(%n: index, %m: index, %A: memref<?x?xTYPE>, %B: memref<?x?xTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %i = 0 to %n {
    %sum, %most = affine.for %j = 0 to %m iter_args(%s = %zero, %t = %zero) -> (TYPE, TYPE) {
      %a = affine.load %A[%i, %j] : memref<?x?xTYPE>
      %u = arith.addf %s, %a : TYPE
      %v = arith.maximumf %t, %a : TYPE
      affine.yield %u, %v : TYPE, TYPE
    }
    affine.for %j = 0 to %m {
      %a = affine.load %A[%i, %j] : memref<?x?xTYPE>
      %b = arith.subf %a, %most : TYPE
      %c = arith.addf %b, %sum : TYPE
      affine.store %c, %B[%i, %j] : memref<?x?xTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (16, 16), (19, 37)])
def test_sums_of_normalisations_run_in_lanes(element: str, n: int, m: int) -> None:
    function = load(NORMALISED.replace("TYPE", element))["normalised"]
    original = Schedule.original(function.scop)
    sizes = infer_extents(function.scop, {"n": 900, "m": 900})
    chosen = strict_order_reductions(original, original.tree, SchedulingContext(sizes, 1))
    assert chosen is not None
    assert str(chosen).count("unroll{") == 3  # Two sums, and what uses them for all rows at once.
    random = np.random.default_rng(n * m)
    dtype = np.dtype(element.replace("f", "float"))
    a = random.choice([1.0, 2.0 ** (22 if element == "f32" else 51), -5.0], (n, m)).astype(dtype)
    sums, b = np.zeros(n, dtype), np.zeros_like(a)
    for j in range(m):
        sums += a[:, j]
    function.compile(chosen)(n, m, a, b)
    most = np.maximum(a.max(axis=1), 0)
    np.testing.assert_array_equal(b, (a - most[:, None]) + sums[:, None])


GATHERED = """
func.func @forces(%n: index, %m: index, %x: memref<?xf64>, %y: memref<?xf64>, %nb: memref<?x?xi32>,
                  %f: memref<?xf64>, %g: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    %a = memref.alloca() : memref<f64>
    %b = memref.alloca() : memref<f64>
    affine.store %zero, %a[] : memref<f64>
    affine.store %zero, %b[] : memref<f64>
    affine.for %k = 0 to %m {
      %0 = affine.load %nb[%i, %k] : memref<?x?xi32>
      %j = arith.index_cast %0 : i32 to index
      %1 = affine.load %x[%i] : memref<?xf64>
      %2 = memref.load %x[%j] : memref<?xf64>
      %u = arith.subf %1, %2 : f64
      %3 = affine.load %y[%i] : memref<?xf64>
      %4 = memref.load %y[%j] : memref<?xf64>
      %v = arith.subf %3, %4 : f64
      %5 = affine.load %a[] : memref<f64>
      %6 = arith.addf %5, %u : f64
      affine.store %6, %a[] : memref<f64>
      %7 = affine.load %b[] : memref<f64>
      %8 = arith.addf %7, %v : f64
      affine.store %8, %b[] : memref<f64>
    }
    %9 = affine.load %a[] : memref<f64>
    affine.store %9, %f[%i] : memref<?xf64>
    %10 = affine.load %b[] : memref<f64>
    affine.store %10, %g[%i] : memref<?xf64>
  }
  return
}
"""


def test_answers_no_better_than_the_nest_as_it_is_have_rivals() -> None:
    """Blocks of neighbours would be transposed, and gathered from memory again."""
    (function,) = load(GATHERED).values()
    sizes = infer_extents(function.scop, {"n": 2000, "m": 40})
    target = Target.named("sapphirerapids")
    chosen = default_schedule(function.scop, sizes, target, threads=2)
    assert len(nests(chosen.tree)) == 1
    assert "parallel" in str(chosen)
