"""Loops of which one iteration stands in the way are cut there, and their parts run in vectors."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of
from support.targets import WIDE

import loopwright
from loopwright.passes.default.index_set_splitting import index_set_splitting
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule

SCALED = """
func.func @scaled(%n: index, %m: index, %A: memref<?xf64>) {
  affine.for %k = 0 to %m {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%j] : memref<?xf64>
      %1 = affine.load %A[%k] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      affine.store %2, %A[%j] : memref<?xf64>
    }
  }
  return
}
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_shortest_paths_run_in_vectors_and_on_threads(threads: int) -> None:
    function = function_of("polybench/floyd-warshall")

    def split(target: Target | None) -> Schedule:
        original = Schedule.original(function.scop, target)
        found = index_set_splitting(
            original, original.tree, SchedulingContext({"n": 2800}, threads)
        )
        assert found is not None
        return found

    chosen = split(WIDE)
    steps = [str(step) for step in chosen.transformations]
    assert steps[:2] == ["split{loops=i at=k}", "split{loops=S0_2.i at=k+1}"]
    assert "vectorize{loops=S0.j width=16}" in steps
    assert ("parallel{loops=S0.i}" in steps) == (threads == 2)
    own = split(None)
    for size in ("MINI", "SMALL"):
        check_run("polybench/floyd-warshall", own, size)


@pytest.mark.parametrize("n", [1, 5, 16, 33])
def test_results(n: int) -> None:
    function = loopwright.load(SCALED)["scaled"]
    original = Schedule.original(function.scop)
    chosen = index_set_splitting(
        original, original.tree, SchedulingContext({"n": 500, "m": 500}, 1)
    )
    assert chosen is not None
    assert "vectorize{loops=S0.j" in str(chosen)
    expected, found = (np.linspace(0.5, 1.5, n) for _ in range(2))
    function.compile(None)(n, n, expected)
    function.compile(chosen)(n, n, found)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kernel", ["gemm", "trisolv", "seidel-2d", "nussinov"])
def test_other_programs_stay(kernel: str) -> None:
    original = Schedule.original(function_of(f"polybench/{kernel}").scop)
    sizes = dict.fromkeys((p.name for p in original.scop.parameters), 500)
    assert index_set_splitting(original, original.tree, SchedulingContext(sizes, 2)) is None
