"""What kind of loops schedules become."""

import numpy as np
import pytest

import loopwright
from loopwright.dialects.errors import SourceError
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.generate import generate
from loopwright.lowering.loops.ir_builder import TooManyOperationsError
from loopwright.lowering.loops.operations import operations
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.isl_context import TooComplexError, bounded

COPY = """
func.func @copy(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      affine.store %0, %B[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

TRIANGLE = COPY.replace("affine.for %j = 0 to %m", "affine.for %j = 0 to %i")


def loop_ir(schedule: str, text: str = COPY, n: int = 100, m: int = 100) -> str:
    sizes = {"n": n, "m": m, "A_dim0": n, "A_dim1": m, "B_dim0": n, "B_dim1": m}
    return str(generate(loopwright.load(text)["copy"].schedule(schedule), sizes))


def test_nested_parallel_loops_are_collapsed() -> None:
    assert "affine.parallel (%i, %j) = (0, 0) to (100, 100)" in loop_ir("parallel{loops=i,j}")


def test_uneven_iterations_are_handed_out_dynamically() -> None:
    assert 'schedule = "static"' in loop_ir("parallel{loops=i}")
    assert 'schedule = "dynamic"' in loop_ir("parallel{loops=i}", TRIANGLE)
    assert 'schedule = "static"' in loop_ir("tile{loops=i,j sizes=32,32},parallel{loops=it}")


@pytest.mark.parametrize(("begin", "step"), [("%i mod 2", 2), ("(%i + 1) mod 3", 3)])
def test_remainders_leave_iterations_even(begin: str, step: int) -> None:
    """Threads keep the rows of a colour, which are in the caches of their cores."""
    loop = (
        f"affine.for %j = affine_map<(d0) -> ({begin.replace('%i', 'd0')})>(%i) to %m step {step}"
    )
    colours = COPY.replace("affine.for %j = 0 to %m", loop)
    assert 'schedule = "static"' in loop_ir("parallel{loops=i}", colours)
    triangle = colours.replace("to %m step", "to %i step")
    assert 'schedule = "dynamic"' in loop_ir("parallel{loops=i}", triangle)


def test_full_tiles_have_no_masks() -> None:
    text = loop_ir("tile{loops=i,j sizes=32,32},vectorize{loops=j width=8}")
    full, partial = text.split("} else {")
    assert "affine.if affine_set<(d0) : (-d0 + 2 >= 0)>(%jt)" in full
    assert "affine.vector_load" in full
    assert "masked" not in full
    assert "vector.maskedload" in partial


def test_tiles_that_are_all_full_are_not_split() -> None:
    text = loop_ir("tile{loops=i,j sizes=32,32},vectorize{loops=j width=8}", n=64, m=96)
    assert "affine.if" not in text
    assert "min" not in text


def test_the_rest_of_a_vector_loop_is_masked() -> None:
    text = loop_ir("vectorize{loops=j width=8}", m=21)
    assert "to 16 step 8" in text
    assert text.count("vector.maskedstore") == 1
    assert "mask" not in loop_ir("vectorize{loops=j width=8}", m=24)


def test_partial_tiles_are_whole_vectors_and_a_masked_rest() -> None:
    band = "skew{loops=i,j factors=1},tile{loops=i,j sizes=32,32},vectorize{loops=j width=8}"
    partial = loop_ir(band).split("} else {")[1]
    assert "affine.vector_store" in partial
    assert partial.count("vector.maskedstore") == 1


def test_strided_accesses_are_gathered() -> None:
    text = loop_ir("vectorize{loops=i width=4}")
    assert "vector.gather" in text
    assert "vector.scatter" in text


def test_a_loop_that_is_left_out_at_the_same_value_in_all_lanes_hinders_no_vectors() -> None:
    text = """
func.func @copy(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 2 {
      affine.if affine_set<(d0) : (d0 == 0)>(%j) {
        %0 = affine.load %A[0, %i] : memref<?x?xf64>
        affine.store %0, %B[0, %i] : memref<?x?xf64>
      } else {
        %1 = affine.load %B[0, %i] : memref<?x?xf64>
        affine.store %1, %B[1, %i] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
    code = loop_ir("vectorize{loops=i width=8}", text, n=16)
    assert code.count("affine.for") == 1
    assert code.count("affine.vector_store") == 2


def test_sizes_can_stay_symbolic() -> None:
    program = loopwright.load(COPY)["copy"]
    text = str(generate(program.schedule("tile{loops=i,j sizes=32,32}"), {}))
    assert "memref<?x?xf64>" in text
    assert "((%n + 31) floordiv 32)" in text or "(d0 + 31) floordiv 32" in text


def test_copies_are_bounded() -> None:
    stores = loop_ir("unroll{loops=i,j factor=1000000}", n=3000, m=3000).count("affine.store")
    assert 16 <= stores <= 600


def test_a_scalar_inside_a_loop_needs_no_array() -> None:
    text = """
func.func @copy(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    %s = memref.alloca() : memref<f64>
    %zero = arith.constant 0.0 : f64
    affine.store %zero, %s[] : memref<f64>
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = affine.load %s[] : memref<f64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %s[] : memref<f64>
    }
    %3 = affine.load %s[] : memref<f64>
    affine.store %3, %B[%i, 0] : memref<?x?xf64>
  }
  return
}
"""
    together = loop_ir("parallel{loops=i}", text)
    assert "memref.alloc" not in together
    apart = loop_ir("distribute{loops=i}", text)
    assert "memref<100xf64>" in apart


NEIGHBOUR = """
func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?xf64>) {
  affine.for %i = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
    affine.for %j = affine_map<(d0) -> (d0 + 1)>(%i) to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = arith.addf %0, %0 : f64
      affine.store %1, %A[%i, %j] : memref<?x?xf64>
    }
    affine.store %c, %B[%i] : memref<?xf64>
  }
  return
}
""".replace("  affine.for %i", "  %c = arith.constant 1.0 : f64\n  affine.for %i", 1)
"""In the last iteration of i there is nothing to do for j, but something next to it."""


@pytest.mark.parametrize("schedule", ["tile{loops=j sizes=2}", "unroll-and-jam{loops=j factor=4}"])
@pytest.mark.parametrize("n", [2, 5, 6, 7, 8])
def test_tiles_are_entered_only_where_they_have_instances(schedule: str, n: int) -> None:
    function = loopwright.load(NEIGHBOUR)["f"]
    found, expected = np.ones((n, n)), np.ones((n, n))
    function.compile(schedule)(n, found, np.zeros(n - 1))
    expected[: n - 1, : n - 1] += np.triu(np.ones((n - 1, n - 1)), 1)
    np.testing.assert_array_equal(found, expected)


def test_large_code_is_given_up_early() -> None:
    entry = catalogue()["polybench/gemm"]
    function = loopwright.load(entry.text)[entry.function]
    program = function.schedule("unroll{loops=S1.j factor=4}")
    sizes = infer_extents(program.scop, dict(entry.parameter_values("MINI")))
    expected = generate(program, sizes)
    count = len(operations(expected))
    assert str(generate(program, sizes, most=count)) == str(expected)
    with pytest.raises(TooManyOperationsError):
        generate(program, sizes, most=count // 2)


def test_isl_may_give_up_anywhere() -> None:
    """In a function that isl calls back, too: an error, and no memory is corrupted."""
    band = "skew{loops=i,j factors=1},tile{loops=i,j sizes=32,32},vectorize{loops=j width=8}"
    program = loopwright.load(TRIANGLE)["copy"].schedule(band)
    names: list[str] = ["n", "m", "A_dim0", "A_dim1", "B_dim0", "B_dim1"]
    finished = 0
    for limit in range(500, 45_000, 53):
        try:
            with bounded(limit):
                finished += "affine.vector_store" in str(
                    generate(program, dict.fromkeys(names, 100))
                )
        except SourceError as error:
            assert isinstance(error.__cause__, TooComplexError)
            assert not finished
    assert finished


def test_a_scalar_of_a_tile_has_no_place_where_it_is_not_used() -> None:
    """What durbin does once before its loop is apart from the tile loop around the rest."""
    entry = catalogue()["polybench/durbin"]
    program = loopwright.load(entry.text)[entry.function]
    schedule = program.schedule("affine-schedule,fuse{loops=S4.k,S1.k},tile{loops=k sizes=16}")
    first, second = (list(entry.arguments("MINI")) for _ in range(2))
    program.compile("")(*first)
    program.compile(schedule)(*second)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
