"""Which elements stay in registers while a loop runs, and that results do not change by it."""

import numpy as np
import pytest

import loopwright
from loopwright.lowering.generate import generate

TRIANGULAR_PRODUCT = """
func.func @f(%m: index, %n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      affine.for %k = affine_map<(d0) -> (d0 + 1)>(%i) to %m {
        %0 = affine.load %B[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%k, %i] : memref<?x?xf64>
        %2 = affine.load %B[%k, %j] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.addf %0, %3 : f64
        affine.store %4, %B[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""

# B[0, j] may be the element that is read
RUNNING_SUM = TRIANGULAR_PRODUCT.replace("(d0) -> (d0 + 1)>(%i)", "(d0) -> (d0 * 0)>(%i)")

REGISTER_TILE = (
    "interchange{loops=j,i},tile{loops=j,i sizes=16,4},interchange{loops=k,i,j},"
    "unroll{loops=i},unroll{loops=j},vectorize{loops=j width=8}"
)


def loop_ir(text: str, schedule: str, m: int = 32, n: int = 32) -> str:
    sizes = {"m": m, "n": n, "A_dim0": m, "A_dim1": m, "B_dim0": m, "B_dim1": n}
    return str(generate(loopwright.load(text)["f"].schedule(schedule), sizes))


def test_sums_of_a_register_tile_are_carried_by_the_loop_around_it() -> None:
    text = loop_ir(TRIANGULAR_PRODUCT, REGISTER_TILE)
    (header,) = (line for line in text.splitlines() if "iter_args" in line)
    assert header.count("vector<8xf64>") == 4 * 2
    body = text.split(header)[1].split("affine.yield")[0]
    assert "store" not in body
    assert body.count("affine.vector_load") == 2, "every vector of a row is loaded once"


def test_an_element_that_may_be_read_elsewhere_stays_in_memory() -> None:
    assert "iter_args" in loop_ir(TRIANGULAR_PRODUCT, "reverse{loops=j}")
    assert "iter_args" not in loop_ir(RUNNING_SUM, "reverse{loops=j}")


def test_an_array_that_lives_inside_of_the_loop_stays_there() -> None:
    text = """
func.func @f(%m: index, %n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    %t = memref.alloca() : memref<2xf64>
    %0 = affine.load %B[0, %i] : memref<?x?xf64>
    affine.store %0, %t[0] : memref<2xf64>
    affine.store %0, %t[1] : memref<2xf64>
    %1 = affine.load %t[%i mod 2] : memref<2xf64>
    affine.store %1, %B[1, %i] : memref<?x?xf64>
  }
  return
}
"""
    code = loop_ir(text, "reverse{loops=i}")
    assert code.index("affine.for") < code.index("memref.alloca")
    assert "iter_args" not in code


def test_nothing_is_touched_around_a_loop_that_may_not_run() -> None:
    stored_first = """
      affine.store %4, %B[%i, %j] : memref<?x?xf64>
      }
      affine.store %one, %A[%j, %i] : memref<?x?xf64>"""
    original = "\n        affine.store %4, %B[%i, %j] : memref<?x?xf64>\n      }"
    assert original in TRIANGULAR_PRODUCT
    text = TRIANGULAR_PRODUCT.replace(original, stored_first)
    text = text.replace("{\n", "{\n  %one = arith.constant 1.0 : f64\n", 1)
    code = loop_ir(text, "tile{loops=j sizes=8}")
    condition = code.index("affine.if")
    assert condition < code.index("affine.load %B")
    assert "affine_set<(d0) : (-d0 + 30 >= 0)>" in code


def test_a_loop_that_always_runs_has_no_condition_around_it() -> None:
    code = loop_ir(TRIANGULAR_PRODUCT, "reverse{loops=j}")
    assert "affine.if" not in code, "the last row is left out by the outer loop"
    assert "iter_args" in code


def test_a_sum_over_several_loops_is_carried_through_all_of_them() -> None:
    text = """
func.func @f(%m: index, %n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %m {
      affine.for %l = 0 to %m {
        %0 = affine.load %B[0, %i] : memref<?x?xf64>
        %1 = affine.load %A[%k, %l] : memref<?x?xf64>
        %2 = arith.addf %0, %1 : f64
        affine.store %2, %B[0, %i] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
    code = loop_ir(text, "reverse{loops=i}")
    assert code.count("iter_args") == 2
    inside = code[code.index("iter_args") :]
    assert "load %B" not in inside
    assert inside.rindex("affine.yield") < inside.index("affine.store")
    also_read = text.replace("affine.load %A[%k, %l]", "affine.load %B[%k, %l]")
    assert "iter_args" not in loop_ir(also_read, "tile{loops=i sizes=8}")


@pytest.mark.parametrize("text", [TRIANGULAR_PRODUCT, RUNNING_SUM], ids=["promoted", "in memory"])
@pytest.mark.parametrize("schedule", ["reverse{loops=j}", REGISTER_TILE])
@pytest.mark.parametrize(("m", "n"), [(1, 5), (9, 17), (21, 35)])
def test_results_do_not_change(text: str, schedule: str, m: int, n: int) -> None:
    function = loopwright.load(text)["f"]
    if text is RUNNING_SUM and schedule == REGISTER_TILE:
        schedule = "tile{loops=j sizes=16},interchange{loops=k,j},vectorize{loops=j width=8}"
    generator = np.random.default_rng(m * n)
    factors, expected = generator.random((m, m)) / m, generator.random((m, n))
    result = expected.copy()
    function.compile(None, threads=1)(m, n, factors, expected)
    function.compile(schedule, threads=1)(m, n, factors, result)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_a_guard_may_use_values_that_no_access_has() -> None:
    """The bounds of the points of `j` depend on their tile, which is in no subscript."""
    text = """
    func.func @f(%n: index, %m: index, %A: memref<?xf64>, %B: memref<?xf64>) {
      affine.for %i = 0 to %m {
        affine.for %j = 0 to %n {
          %0 = affine.load %A[%i] : memref<?xf64>
          %1 = affine.load %B[%i] : memref<?xf64>
          %2 = arith.maximumf %0, %1 : f64
          affine.store %2, %A[%i] : memref<?xf64>
        }
      }
      return
    }
    """
    a, b = np.arange(448.0), np.arange(448.0)[::-1].copy()
    schedule = "tile{loops=j sizes=64},tile{loops=jt,j sizes=64,64}"
    expected = np.maximum(a, b)
    loopwright.load(text)["f"].compile(schedule=schedule)(1566, 448, a, b)
    assert np.array_equal(a, expected)


def test_bounds_of_parallel_loops_tell_elements_apart() -> None:
    text = TRIANGULAR_PRODUCT.replace("affine.for %j = 0 to %n", "affine.for %j = 0 to %i")
    text = text.replace("%B[%k, %j]", "%B[%i, %k]")
    for schedule in ("interchange{loops=j,i}", "parallel{loops=i}"):
        assert "iter_args" in loop_ir(text, schedule)
