"""Sizes that are powers of two get schedules whose rows do not evict each other from caches."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.reference_runs import check_run, function_of

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents


def chosen(name: str, *size: int) -> str:
    """The default schedule of a kernel for a Zen 4, two threads and fast math."""
    parameters = dict(zip(catalogue()[name].parameters, size, strict=True))
    scop = function_of(name).scop
    sizes, target = infer_extents(scop, parameters), Target.named("zen4")
    return str(default_schedule(scop, sizes, target, threads=2, reassociate=True))


def jam(schedule: str) -> int:
    return int(re.findall(r"unroll-and-jam\{loops=i factor=(\d+)", schedule)[0])


@pytest.mark.parametrize(
    ("name", "power", "neighbour", "small"),
    [
        ("polybench/fdtd-2d", (40, 1024, 1024), (40, 1000, 1000), (6, 67, 90)),
        ("polybench/heat-3d", (40, 128), (40, 120), (5, 21)),
    ],
)
def test_fewer_rows_side_by_side_in_time_tiles(
    name: str, power: tuple[int, ...], neighbour: tuple[int, ...], small: tuple[int, ...]
) -> None:
    """Lines of all rows of all arrays compete for one set, of eight lines."""
    schedule = chosen(name, *power)
    assert jam(schedule) == 2
    assert jam(chosen(name, *neighbour)) == 4
    check_run(name, schedule, small, fast_math=True)


@pytest.mark.parametrize("name", ["polybench/lu", "polybench/cholesky"])
def test_fewer_rows_of_register_tiles_in_factorisations(name: str) -> None:
    schedule = chosen(name, 1024)
    rows = {int(each) for each in re.findall(r"tile\{loops=\w+\.i,\w+\.j sizes=(\d+),", schedule)}
    assert rows and max(rows) <= 6
    assert "sizes=9,24" in chosen(name, 1000)
    for size in (160, 175):
        check_run(name, schedule, (size,), fast_math=True)


def test_fewer_rows_in_lanes() -> None:
    name = "field/dynamic_time_warping"
    assert "vectorize{loops=i width=8}" in chosen(name, 2048, 2048)
    assert "vectorize{loops=i width=32}" in chosen(name, 2040, 2040)
    check_run(name, chosen(name, 2048, 2048), (70, 83))


@pytest.mark.parametrize(
    ("name", "packed"), [("polybench/trmm", "reads=S0.2"), ("polybench/covariance", "array=data")]
)
def test_packed_columns_of_triangles(name: str, packed: str) -> None:
    """Terms of a sum that are far apart evict each other, also of the result itself."""
    schedule = chosen(name, 1024, 1024)
    assert packed in schedule and "pack{" in schedule
    assert "pack{" not in chosen(name, 1000, 1000)
    for size in ((70, 88), (61, 95)):
        check_run(name, schedule, size, fast_math=True)


COLUMNS = """
func.func @f(%n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>, %s: memref<?xf32>) {
  affine.for %j = 0 to %n {
    %zero = arith.constant 0.0 : f32
    affine.store %zero, %s[%j] : memref<?xf32>
    affine.for %i = 0 to %n {
      %0 = affine.load %s[%j] : memref<?xf32>
      %1 = affine.load %A[%i, %j] : memref<?x?xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %s[%j] : memref<?xf32>
    }
    affine.for %i = 0 to %n {
      %3 = affine.load %s[%j] : memref<?xf32>
      %4 = affine.load %A[%i, %j] : memref<?x?xf32>
      %5 = arith.subf %4, %3 : f32
      affine.store %5, %B[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""


def test_columns_are_not_walked_vector_by_vector() -> None:
    """A vector of columns leaves no line of 1024 rows in the cache for the next one."""
    function = loopwright.load(COLUMNS)["f"]
    sizes = infer_extents(function.scop, {"n": 1024})
    schedule = str(default_schedule(function.scop, sizes, Target.named("zen4"), threads=2))
    assert not schedule.startswith("vectorize{loops=j width=16}")
    a = np.random.default_rng(1).random((150, 150), dtype="f4")
    results = [(np.zeros_like(a), np.zeros(150, "f4")) for _ in range(2)]
    for steps, (b, s) in zip((None, schedule), results, strict=True):
        function.compile(steps, threads=2, verify=steps is not None)(150, a, b, s)
    np.testing.assert_array_equal(results[0][0], results[1][0])
