"""What estimates take for rows that are computed in the order of memory, and what these compute."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.errors import BoundsError
from loopwright.passes.estimate.elementwise_rows import is_elementwise
from loopwright.passes.estimate.loops_around import LoopsAround
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import leaves

PROGRAM = """
func.func @f(%n: index, %t: f32, %A: memref<?xWIDTHxf32>, %B: memref<?xWIDTHxf32>,
             %s: memref<4xf32>) {
  affine.for %i = ROWS {
    affine.for %c = COLUMNS {
      %a = affine.load %A[LOADED] : memref<?xWIDTHxf32>
      %b = affine.load %B[%i, %c] : memref<?xWIDTHxf32>
      %x = affine.load %s[SCALAR] : memref<4xf32>
      %0 = arith.mulf %a, %t : f32
      %1 = arith.addf %0, %x : f32
      %2 = arith.cmpf olt, %1, %b : f32
      %3 = arith.select %2, %b, %1 : f32
      affine.store %3, %B[%i, %c] : memref<?xWIDTHxf32>
    }
  }
  return
}
"""
ROWS = {"rows": "0 to %n", "columns": "0 to 3", "loaded": "%i, %c", "scalar": "1"}
OTHERS = [
    {"columns": "0 to 2"},
    {"columns": "0 to 3 step 2"},
    {"rows": "0 to %n step 2"},
    {"loaded": "%i, 2 - %c"},
    {"loaded": "%i, 0"},
]
SAME = [{"loaded": "%i + 1, %c"}, {"scalar": "%c"}]
SCHEDULE = "unroll{loops=c},vectorize{loops=i width=8}"


def text(width: int = 3, **changes: str) -> str:
    result = PROGRAM.replace("WIDTH", str(width))
    for name, value in (ROWS | changes).items():
        result = result.replace(name.upper(), value)
    return result


@pytest.mark.parametrize("width", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("rows", ["0 to %n", "2 to %n", "0 to min affine_map<(d0) -> (d0, 9)>(%n)"])
def test_results_are_the_same(width: int, rows: str) -> None:
    source = text(width, rows=rows, columns=f"0 to {width}")
    function = loopwright.load(source)["f"]
    first, end = int(rows[0]), 9 if "min" in rows else 10**6
    random = np.random.default_rng(width)
    for schedule, checked in ((SCHEDULE, False), ("", False), (SCHEDULE, True)):
        kernel = function.compile(schedule, check_bounds=checked, verify=not checked)
        for n in (0, 1, 5, 23):
            a, b = random.random((2, n, width)).astype("f4")
            s, expected = random.random(4).astype("f4"), b.copy()
            part = slice(first, min(n, end))
            value = (a[part].astype("f8") * np.float32(0.5) + s[1]).astype("f4")
            expected[part] = np.where(value < b[part], b[part], value)
            kernel(n, 0.5, a, b, s)
            np.testing.assert_array_equal(b, expected)


def test_accesses_outside_are_found() -> None:
    kernel = loopwright.load(text())["f"].compile("")
    array = np.zeros((4, 3), "f4")
    with pytest.raises(BoundsError):
        kernel(5, 0.5, array, array.copy(), np.zeros(4, "f4"))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, True), *((each, False) for each in OTHERS), *((e, True) for e in SAME)],
)
def test_estimates_know(changes: dict[str, str], expected: bool) -> None:
    schedule = loopwright.load(text(**changes))["f"].schedule(SCHEDULE)
    context = SchedulingContext({"n": 100, "A_dim0": 101, "B_dim0": 100}, 1)
    program = ScheduledProgram(schedule, context)
    ((leaf, loops), *_) = leaves(schedule.tree)
    statement = program.statement(leaf.statement)
    around = LoopsAround(loops, statement.trips(loops), loops[0], 8.0)
    assert is_elementwise(program, statement, around) == expected
