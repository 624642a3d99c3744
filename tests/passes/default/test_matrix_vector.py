"""Matrix-vector products: which rows run together, on threads or not, and with the same results."""

import numpy as np
import pytest
from support.reference_runs import check_run, function_of

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedule import Schedule

CHOICES = {
    # One thread: four rows at a time.
    ("atax", 1): ["unroll-and-jam{loops=S1.i factor=4}"],
    ("bicg", 1): ["unroll-and-jam{loops=S1.i factor=4}"],
    ("gesummv", 1): ["unroll-and-jam{loops=i factor=4}"],
    # Both products read the matrix once.
    ("mvt", 1): ["interchange{loops=S1.j,S1.i}", "fuse{loops=S0.i,S1.j}", "fuse{loops=j,i}"],
    # Threads have sums of their own where they add to the same vector.
    ("gesummv", 2): ["unroll-and-jam{loops=i factor=4}", "parallel{loops=it}"],
    ("atax", 2): ["rfactor{loops=it}", "parallel{loops=S1.it}"],
    ("bicg", 2): ["rfactor{loops=it}", "parallel{loops=S1.it}"],
    ("mvt", 2): ["fuse{loops=j,i}", "rfactor{loops=i2t}", "parallel{loops=S0.i2t}"],
    ("gemver", 2): ["fuse{loops=S0.j,S1.i}", "rfactor{loops=i2t}", "parallel{loops=it}"],
}


def choose(kernel: str, size: str, threads: int) -> Schedule:
    function = function_of(f"polybench/{kernel}")
    sizes = infer_extents(function.scop, catalogue()[f"polybench/{kernel}"].parameter_values(size))
    return default_schedule(function.scop, sizes, threads=threads, reassociate=True)


@pytest.mark.parametrize(("kernel", "threads"), CHOICES)
def test_choice(kernel: str, threads: int) -> None:
    steps = [str(step) for step in choose(kernel, "LARGE", threads).transformations]
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
