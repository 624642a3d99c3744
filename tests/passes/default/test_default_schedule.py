"""The default schedule of every PolyBench kernel is legal, deterministic, right, and replayable."""

import numpy as np
import pytest
from support.reference_runs import function_of
from support.targets import WIDE

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops

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
