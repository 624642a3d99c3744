"""Loops are cut where tiles inside of them become full: same instances, constant trip counts."""

import numpy as np
import pytest
from support.nest_execution import run

from loopwright.lowering.generate import generate
from loopwright.lowering.nest.index_expression import Index
from loopwright.lowering.nest.index_set_splitting import split_index_sets
from loopwright.lowering.nest.nest import Call, For, Nest, walk
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, TileSize
from loopwright.runtime.program import load

OUTER, ROW, COLUMN = (Index.variable(number) for number in range(3))
SIZE = 4


def loop(name: str, *, unroll: int | None = None) -> Loop:
    within = TileSize(f"{name}t", SIZE) if unroll is not None else None
    return Loop(name, {}, Leaf("S"), within=within, unroll=unroll)


def triangle(first: int, last: int, slope: int) -> Nest:
    """For k: for i in [4, min(8, slope * k + 1)): for j in [max(0, i - k), 4): S(k, i, j)."""
    call = Call("S", (OUTER, ROW, COLUMN))
    j = For(loop("j", unroll=0), 2, (Index(0), ROW - OUTER), (Index(SIZE),), 1, call)
    i = For(loop("i", unroll=0), 1, (Index(4),), (Index(8), OUTER * slope + 1), 1, j)
    return For(loop("k"), 0, (Index(first),), (Index(last),), 1, i)


@pytest.mark.parametrize("slope", [1, 2, -1, 0])
@pytest.mark.parametrize(("first", "last"), [(0, 20), (6, 9), (10, 20), (0, 3), (5, 5)])
def test_cut_loops_run_the_same_instances_in_the_same_order(
    first: int, last: int, slope: int
) -> None:
    nest = triangle(first, last, slope)
    assert list(run(split_index_sets(nest), {})) == list(run(nest, {}))


def test_inside_of_the_range_trip_counts_are_constant() -> None:
    cut = split_index_sets(triangle(0, 20, 1))
    counts = [node.trip_count for node in walk(cut) if isinstance(node, For)]
    # i and j are full for k from 7 on
    assert counts == [7, None, None, 13, SIZE, SIZE]


def test_loops_around_full_tiles_stay_whole() -> None:
    call = Call("S", (OUTER, ROW))
    nest = For(
        loop("k"),
        0,
        (Index(0),),
        (Index(20),),
        1,
        For(loop("i", unroll=0), 1, (Index(4),), (Index(8),), 1, call),
    )
    assert split_index_sets(nest) == nest


def test_a_vector_loop_that_runs_over_tiles_is_no_tile_itself() -> None:
    """Which of its iterations are full tiles cannot be said outside of it."""
    text = """
    func.func @copy(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
      affine.for %i = 0 to %n {
        affine.for %j = 0 to %n {
          %0 = affine.load %A[%i, %j] : memref<?x?xf64>
          affine.store %0, %B[%i, %j] : memref<?x?xf64>
        }
      }
      return
    }
    """
    steps = "unroll-and-jam{loops=i factor=8},interchange{loops=j,it},vectorize{loops=it width=8}"
    kernel = load(text)["copy"].compile(schedule=steps)
    for n in (31, 64, 7):
        source = np.arange(n * n, dtype=np.float64).reshape(n, n)
        copied = np.zeros_like(source)
        kernel(n, source, copied)
        assert np.array_equal(source, copied)


@pytest.mark.parametrize(("columns", "gathers"), [(16, 8), (37, 8 + 1), (5, 5)])
def test_unrolled_strips_are_full_but_for_the_last(columns: int, gathers: int) -> None:
    """The columns are read with neighbours, 8 at a time, and those that are left over alone."""
    text = """
    func.func @sums(%n: index, %m: index, %A: memref<?x?xf64>, %s: memref<?xf64>) {
      affine.for %i = 0 to %n {
        affine.for %j = 0 to %m {
          %0 = affine.load %s[%i] : memref<?xf64>
          %1 = affine.load %A[%i, %j] : memref<?x?xf64>
          %2 = arith.addf %0, %1 : f64
          affine.store %2, %s[%i] : memref<?xf64>
        }
      }
      return
    }
    """
    steps = (
        "strip-mine{loops=i size=8},strip-mine{loops=j size=8},interchange{loops=jt,j,i},"
        "unroll{loops=j,i},vectorize{loops=i width=8}"
    )
    function = load(text)["sums"]
    kernel = function.compile(schedule=steps, verify=True)
    matrix = np.random.default_rng(columns).random((24, columns))
    sums, expected = np.zeros(24), np.zeros(24)
    kernel(24, columns, matrix, sums)
    function.compile(schedule=None)(24, columns, matrix, expected)
    assert np.array_equal(sums, expected)
    sizes = {"n": 24, "m": columns, "A_dim0": 24, "A_dim1": columns, "s_dim0": 24}
    loops = str(generate(function.schedule(steps), sizes))
    assert loops.count("vector.gather") == gathers


LIFTING = """
func.func @f(%x: memref<?x?xKIND>, %n: index, %m: index) {
  affine.for %i = 0 to %n {
    affine.for %j = 1 to %m {
      %0 = affine.load %x[%i, %j] : memref<?x?xKIND>
      %1 = affine.load %x[%i, %j - 1] : memref<?x?xKIND>
      %2 = ADD %0, %1 : KIND
      affine.store %2, %x[%i, %j] : memref<?x?xKIND>
    }
  }
  return
}
"""


@pytest.mark.parametrize(("kind", "add"), [("f64", "arith.addf"), ("i32", "arith.addi")])
@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize(("n", "m"), [(40, 33), (7, 20), (67, 16), (33, 5)])
def test_copies_of_strips_are_full_but_for_the_last(
    kind: str, add: str, lanes: int, n: int, m: int
) -> None:
    """Each strip is copied with the lanes innermost, with transpositions where it is full."""
    function = load(LIFTING.replace("KIND", kind).replace("ADD", add))["f"]
    steps = (
        f"strip-mine{{loops=i size={lanes}}},pack{{loops=it array=x order=1,0}},"
        f"interchange{{loops=pack_x.x1,pack_x.x0}},vectorize{{loops=pack_x.x0 width={lanes}}},"
        f"unroll{{loops=pack_x.x1 factor={lanes}}},interchange{{loops=unpack_x.x1,unpack_x.x0}},"
        f"vectorize{{loops=unpack_x.x1 width={lanes}}},unroll{{loops=unpack_x.x0}},"
        f"interchange{{loops=j,i}},vectorize{{loops=i width={lanes}}}"
    )
    x = np.random.default_rng(1).integers(-9, 9, (n, m)).astype("f8" if kind == "f64" else "i4")
    expected, actual = x.copy(), x.copy()
    function.compile(None)(expected, n, m)
    kernel = function.compile(schedule=steps, verify=True)
    kernel(actual, n, m)
    np.testing.assert_array_equal(actual, expected)
    assert kernel.llvm_ir.count("shufflevector") > 2 * lanes


@pytest.mark.parametrize(("n", "m"), [(24, 40), (40, 64), (35, 88), (64, 95)])
def test_register_tiles_at_the_edge_of_a_triangular_product(n: int, m: int) -> None:
    """The last columns have shorter tiles, full but on the diagonal: sums stay in registers."""
    function = load(TRIANGLE)["f"]
    steps = (
        "interchange{loops=j,i,k},tile{loops=j,i sizes=24,8},interchange{loops=k,i,j},"
        "unroll{loops=i,j},vectorize{loops=j width=8}"
    )
    generator = np.random.default_rng(3)
    a, b, c = (generator.random(shape) for shape in ((n, n), (n, m), (n, m)))
    expected = c.copy()
    function.compile(None)(n, m, a, b, expected)
    kernel = function.compile(steps, verify=True)
    kernel(n, m, a, b, c)
    np.testing.assert_allclose(c, expected, rtol=1e-12)
    assert kernel.loop_ir.count("iter_args") == 2


TRIANGLE = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      affine.for %k = affine_map<(d0) -> (d0 + 1)>(%i) to %n {
        %0 = affine.load %C[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%k, %i] : memref<?x?xf64>
        %2 = affine.load %B[%k, %j] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.addf %0, %3 : f64
        affine.store %4, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
