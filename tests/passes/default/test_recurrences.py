"""Independent recurrences run at once: rows as scalars, columns in vectors."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.recurrences import recurrences
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule

PREFIX = """
func.func @prefix(%n: index, %m: index, %A: memref<?x?xf64>) {{
  affine.for %a = {} to %n {{
    affine.for %b = {} to %m {{
      %0 = affine.load %A[{}] : memref<?x?xf64>
      %1 = affine.load %A[{}] : memref<?x?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %A[{}] : memref<?x?xf64>
    }}
  }}
  return
}}
"""
MANY = 8 if Target.host().vector_registers >= 32 else 4
ROWS = PREFIX.format(0, 1, "%a, %b", "%a, %b - 1", "%a, %b")
COLUMNS = PREFIX.format(0, 1, "%b, %a", "%b - 1, %a", "%b, %a")
INDEPENDENT = PREFIX.format(0, 0, "%a, %b", "%a, %b", "%a, %b")


def choose(text: str, threads: int, extent: int = 900) -> Schedule | None:
    scop = loopwright.load(text)["prefix"].scop
    original = Schedule.original(scop)
    sizes = infer_extents(scop, {"n": extent, "m": 900})
    return recurrences(original, original.tree, SchedulingContext(sizes, threads))


@pytest.mark.parametrize(
    ("text", "threads", "expected"),
    [
        (ROWS, 1, f"unroll-and-jam{{loops=a factor={MANY}}}"),
        (ROWS, 2, f"unroll-and-jam{{loops=a factor={MANY}}},parallel{{loops=at}}"),
        (
            COLUMNS,
            2,
            "strip-mine{loops=a size=64},parallel{loops=at},interchange{loops=b,a},"
            "vectorize{loops=a width=8}",
        ),
    ],
)
@pytest.mark.parametrize("extent", [1, 7, 67])
def test_choice_and_results(text: str, threads: int, expected: str, extent: int) -> None:
    chosen = choose(text, threads)
    assert chosen is not None
    assert (
        str(chosen).replace("vectorize{loops=a width=4}", "vectorize{loops=a width=8}") == expected
    )
    function = loopwright.load(text)["prefix"]
    a, b = (np.random.default_rng(1).random((extent, extent)) for _ in range(2))
    function.compile(None)(extent, extent, a)
    function.compile(str(chosen), threads=threads)(extent, extent, b)
    np.testing.assert_array_equal(a, b)


def test_few_rows_run_four_at_a_time() -> None:
    """Each of two threads has fewer than two strips of eight."""
    assert str(choose(ROWS, 1, 15)) == "unroll-and-jam{loops=a factor=4}"
    assert "factor=4" in str(choose(ROWS, 4, 63))


def test_what_can_run_in_vectors_anyway_is_left_alone() -> None:
    assert choose(INDEPENDENT, 2) is None


def test_deriche_reads_each_row_once_for_both_passes() -> None:
    function = function_of("polybench/deriche")
    sizes = catalogue()["polybench/deriche"].parameter_values("LARGE")
    chosen = default_schedule(function.scop, infer_extents(function.scop, sizes), threads=2)
    steps = [str(step) for step in chosen.transformations]
    assert steps[:2] == ["fuse{loops=S0.i,S7.i}", "fuse{loops=S0.i,S16.i}"]
    assert steps[2].startswith("strip-mine{loops=S0.i")
    assert {"pack{loops=it array=y1 order=1,0}", "pack{loops=it array=y2 order=1,0}"} <= set(steps)
    check_run("polybench/deriche", chosen, "MINI")


def test_sums_of_columns_stay_in_registers() -> None:
    text = """
    func.func @sums(%n: index, %m: index, %A: memref<?x?xf64>, %s: memref<?xf64>,
                    %t: memref<?xf64>) {
      affine.for %a = 0 to %n {
        affine.for %b = 0 to %m {
          %0 = affine.load %A[%b, %a] : memref<?x?xf64>
          %1 = affine.load %s[%a] : memref<?xf64>
          %2 = arith.addf %1, %0 : f64
          affine.store %2, %s[%a] : memref<?xf64>
          %3 = affine.load %t[%a] : memref<?xf64>
          %4 = arith.maximumf %3, %0 : f64
          affine.store %4, %t[%a] : memref<?xf64>
        }
      }
      return
    }
    """
    scop = loopwright.load(text)["sums"].scop
    original = Schedule.original(scop)
    chosen = recurrences(
        original, original.tree, SchedulingContext(infer_extents(scop, {"n": 900, "m": 900}), 1)
    )
    target = original.target
    columns = min(8, (target.vector_registers - 4) // 2) * target.lanes(scop.arrays[0].element_type)
    assert str(chosen).startswith(f"strip-mine{{loops=a size={columns}}}")
