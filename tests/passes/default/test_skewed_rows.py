"""Two-dimensional recurrences run a row in each lane, and give the same results."""

from __future__ import annotations

import numpy as np
import pytest
from support.targets import NARROW, WIDE

import loopwright
from loopwright.passes.default.skewed_rows import skewed_rows
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

TABLE = """
func.func @f(%n: index, %m: index, %s: memref<?xKIND>, %q: memref<?xKIND>, %A: memref<?x?xKIND>) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
      %a = affine.load %s[%i - 1] : memref<?xKIND>
      %b = affine.load %q[%j - 1] : memref<?xKIND>
      %w = arith.subOP %a, %b : KIND
      BODY
    }
  }
  return
}
"""

# Like the alignment of two sequences.
ALIGNMENT = """
      %d = affine.load %A[%i - 1, %j - 1] : memref<?x?xKIND>
      %u = affine.load %A[%i - 1, %j] : memref<?x?xKIND>
      %l = affine.load %A[%i, %j - 1] : memref<?x?xKIND>
      %1 = arith.addOP %d, %w : KIND
      %2 = arith.maxEXTREMUM %1, %u : KIND
      %3 = arith.maxEXTREMUM %2, %l : KIND
      affine.store %3, %A[%i, %j] : memref<?x?xKIND>
"""

# Each row is two columns behind the one above.
AHEAD = """
      %u = affine.load %A[%i - 1, %j + 1] : memref<?x?xKIND>
      %l = affine.load %A[%i, %j - 1] : memref<?x?xKIND>
      %1 = arith.subOP %u, %l : KIND
      %2 = arith.maxEXTREMUM %1, %w : KIND
      affine.store %2, %A[%i, %j] : memref<?x?xKIND>
"""

# The same from the last element to the first.
BACKWARDS = """
      %u = affine.load %A[%n - %i, %m - %j - 2] : memref<?x?xKIND>
      %l = affine.load %A[%n - %i - 1, %m - %j] : memref<?x?xKIND>
      %1 = arith.subOP %u, %l : KIND
      %2 = arith.maxEXTREMUM %1, %w : KIND
      affine.store %2, %A[%n - %i - 1, %m - %j - 1] : memref<?x?xKIND>
"""

# What takes so long that threads are worth it.
SLOW = """
      %u = affine.load %A[%i - 1, %j] : memref<?x?xKIND>
      %l = affine.load %A[%i, %j - 1] : memref<?x?xKIND>
      %1 = arith.divOP %u, %l : KIND
      %2 = arith.divOP %w, %1 : KIND
      %3 = arith.divOP %2, %u : KIND
      %4 = arith.divOP %3, %w : KIND
      affine.store %4, %A[%i, %j] : memref<?x?xKIND>
"""


def table(body: str, kind: str) -> Function:
    is_float = kind.startswith("f")
    text = TABLE.replace("BODY", body).replace("KIND", kind)
    text = text.replace("EXTREMUM", "imumf" if is_float else "si")
    return loopwright.load(text.replace("OP", "f" if is_float else "i"))["f"]


def scheduled(
    function: Function, sizes: dict[str, int], threads: int = 1, target: Target = WIDE
) -> tuple[Schedule | None, SchedulingContext]:
    original = Schedule.original(function.scop, target)
    context = SchedulingContext(infer_extents(function.scop, sizes), threads)
    return skewed_rows(original, original.tree, context), context


def check(function: Function, schedule: Schedule, kind: str, n: int, m: int, threads: int) -> None:
    random = np.random.default_rng(n)
    dtype = {"f64": np.float64, "f32": np.float32, "i32": np.int32, "i16": np.int16}[kind]
    data = [random.integers(1, 90, size).astype(dtype) for size in (n, m, (n, m))]
    expected = [each.copy() for each in data]
    function.compile(None)(n, m, *expected)
    kernel = function.compile(str(schedule), threads=threads, verify=True)
    kernel(n, m, *data)
    assert kernel.verdict is not None and kernel.verdict.is_proved
    np.testing.assert_array_equal(data[2], expected[2])


@pytest.mark.parametrize("body", [ALIGNMENT, AHEAD, BACKWARDS])
@pytest.mark.parametrize("kind", ["f64", "f32", "i32", "i16"])
@pytest.mark.parametrize("target", [WIDE, NARROW])
def test_rows_are_lanes(body: str, kind: str, target: Target) -> None:
    function = table(body, kind)
    schedule, context = scheduled(function, {"n": 2000, "m": 2500}, target=target)
    assert schedule is not None
    assert f"skew{{loops=i,j factors={1 if body == ALIGNMENT else 2}}}" in str(schedule)
    assert "vectorize{loops=i" in str(schedule)
    original = Schedule.original(function.scop, target)
    assert estimate(schedule, context) < 0.7 * estimate(original, context)
    for n, m in ((3, 5), (40, 70), (133, 517)):
        check(function, schedule, kind, n, m, 1)


def test_threads_take_tiles_of_a_wavefront() -> None:
    function = table(SLOW, "f64")
    schedule, _ = scheduled(function, {"n": 2000, "m": 2500}, threads=2)
    assert schedule is not None
    assert "wavefront" in str(schedule)
    assert "parallel" in str(schedule)
    for n, m in ((3, 5), (300, 711)):
        check(function, schedule, "f64", n, m, 2)


def test_large_tables_are_limited_by_memory() -> None:
    schedule, _ = scheduled(table(ALIGNMENT, "i32"), {"n": 6000, "m": 6000}, threads=2)
    assert schedule is not None
    assert "parallel" not in str(schedule)


@pytest.mark.parametrize("sizes", [{"n": 2000, "m": 60}, {"n": 20, "m": 2000}])
def test_few_rows_or_columns_are_left_alone(sizes: dict[str, int]) -> None:
    assert scheduled(table(ALIGNMENT, "i32"), sizes)[0] is None


@pytest.mark.parametrize(
    "body",
    [
        ALIGNMENT.replace("%A[%i, %j - 1]", "%A[%i - 1, %j + 1]"),
        ALIGNMENT.replace("%A[%i - 1, %j]", "%A[0, %j]"),
    ],
)
def test_other_reads_are_left_alone(body: str) -> None:
    """Rows whose elements are independent, and rows that are not next to each other."""
    assert scheduled(table(body, "f64"), {"n": 2000, "m": 2000})[0] is None


@pytest.mark.usefixtures("zen3")
def test_it_is_the_default() -> None:
    function = table(ALIGNMENT, "i32")
    for threads in (1, 2):
        schedule = function.default_schedule({"n": 2000, "m": 2500}, threads=threads)
        assert "vectorize{loops=i" in str(schedule)
