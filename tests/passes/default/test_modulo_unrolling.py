"""Modulo unrolling by the default schedule: where it is chosen, and its results."""

from __future__ import annotations

import numpy as np
import pytest
from support.alternating_programs import parity, planes
from support.scops import schedule_of

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.modulo_unrolling import modulo_unrolled

# Rows of an image that differ by a remainder carry no dependence.
ROWS = """
func.func @f(%n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%i floordiv 2, %j] : memref<?x?xf32>
      affine.store %0, %B[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize("text", [parity(), parity("f32", 1), planes(3), planes(2, "f32")])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("zen3")
def test_time_is_tiled(text: str, threads: int) -> None:
    sizes = {"steps": 100, "n": 3000}
    sizes |= {f"{array}_dim{axis}": 3000 for array in "AB" for axis in (0, 1, 2)}
    schedule = default_schedule(schedule_of(text).program, sizes, threads=threads)
    names = [step.name for step in schedule.transformations]
    assert names[0] == "modulo-unroll"
    assert "tile" in names


def test_only_time_loops_are_unrolled() -> None:
    assert modulo_unrolled(schedule_of(ROWS)) is None


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("text", "element", "shapes"),
    [
        (parity("f32"), np.float32, [(131, 131)] * 2),
        (parity("i8", 1), np.int8, [(131, 131)] * 2),
        (planes(3), np.float64, [(3, 131, 131)]),
        (planes(4, "i32", 2), np.int32, [(4, 131, 131)]),
    ],
)
def test_results_stay(
    text: str, element: type[np.generic], shapes: list[tuple[int, ...]], threads: int
) -> None:
    function = loopwright.load(text)["f"]
    generator = np.random.default_rng(threads)
    for steps in (8, 9, 13):
        given = [generator.integers(-9, 9, shape).astype(element) for shape in shapes]
        others = [array.copy() for array in given]
        function.compile("default", threads=threads)(steps, 131, *given)
        function.compile(None)(steps, 131, *others)
        for array, other in zip(given, others, strict=True):
            np.testing.assert_array_equal(array, other)
