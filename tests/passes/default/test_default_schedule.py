"""The default schedule of every PolyBench kernel is legal, deterministic, right, and replayable."""

import numpy as np
import pytest
from support.reference_runs import function_of
from support.targets import WIDE

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.runtime.program import load

KERNELS = [name for name in catalogue() if name.startswith("polybench/")]


@pytest.mark.parametrize("name", KERNELS)
def test_is_a_schedule_that_can_be_replayed(name: str) -> None:
    function = function_of(name)
    sizes = infer_extents(function.scop, catalogue()[name].parameter_values("LARGE"))
    chosen = default_schedule(function.scop, sizes, threads=2)
    assert function.schedule(str(chosen)) == chosen
    assert default_schedule(function.scop, sizes, threads=2) == chosen


def test_small_programs_stay_as_they_are() -> None:
    function = function_of("polybench/gemm")
    assert not function.default_schedule({"ni": 8, "nj": 8, "nk": 8}, threads=2).transformations


def test_one_thread_runs_no_parallel_loop() -> None:
    function = function_of("polybench/gemm")
    sizes = catalogue()["polybench/gemm"].parameter_values("LARGE")
    assert "parallel" not in str(function.default_schedule(sizes, threads=1))
    assert "parallel" in str(function.default_schedule(sizes, threads=2))


def test_chooses_for_the_sizes_of_each_call() -> None:
    function = function_of("polybench/atax")
    kernel = function.compile("default", threads=2)
    rng = np.random.default_rng(1)
    for m, n in ((5, 7), (601, 797)):
        a, x = rng.random((m, n)), rng.random(n)
        y, tmp = np.zeros(n), np.zeros(m)
        kernel(m, n, a, x, y, tmp)
        np.testing.assert_allclose(y, a.T @ (a @ x))
        assert (kernel.schedule_text == "") == (m == 5)


def test_loops_that_run_once_are_no_vector_and_no_parallel_loops() -> None:
    scop = function_of("gemm/gemm").scop
    sizes = infer_extents(scop, {"M": 2048, "N": 1, "K": 128})
    large = infer_extents(scop, {"M": 20480, "N": 1, "K": 1280})
    chosen = default_schedule(scop, large, WIDE, threads=2, reassociate=True)
    assert str(chosen) == (
        "interchange{loops=j,i,k},unroll-and-jam{loops=i factor=4},parallel{loops=it}"
    )
    exact = default_schedule(scop, sizes, WIDE, threads=2)
    assert not any(
        loop.name == "j" and (loop.parallel or loop.vector) for loop in loops(exact.tree)
    )


LOADS = "\n".join(f"    %a{k} = affine.load %A[%i, {k}] : memref<?x8xf64>" for k in range(8))
MINOR = """
    %p{k} = arith.mulf %a{k}, %a{a} : f64
    %q{k} = arith.mulf %a{b}, %a{c} : f64
    %r{k} = arith.subf %p{k}, %q{k} : f64
    %s{k} = arith.divf %r{k}, %a{a} : f64
    affine.store %s{k}, %B[%i, {k}] : memref<?x8xf64>
"""
MINORS = "".join(MINOR.format(k=k, a=(k + 1) % 8, b=(k + 3) % 8, c=(k + 5) % 8) for k in range(8))
BATCHES = f"""
func.func @f(%n: index, %A: memref<?x8xf64>, %B: memref<?x8xf64>) {{
  affine.for %i = 0 to %n {{
{LOADS}
{MINORS}
  }}
  return
}}
"""


@pytest.mark.parametrize(("n", "is_shared"), [(6_000, True), (1_000, False)])
def test_batches_are_shared_out_for_what_they_compute(n: int, is_shared: bool) -> None:
    """A strategy asks for 50,000 instances, whatever these do."""
    scop = load(BATCHES)["f"].scop
    schedule = default_schedule(scop, infer_extents(scop, {"n": n}), WIDE, threads=2)
    assert "vectorize" in str(schedule)
    assert ("parallel" in str(schedule)) == is_shared
