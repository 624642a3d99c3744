"""Loops over short rows become one loop, and compute the same."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.dialects.affine import ForOp
from loopwright.errors import BoundsError
from loopwright.lowering.generate import generate
from loopwright.lowering.llvm import Options, translate
from loopwright.passes.estimate.coalesced_rows import coalesced_elements
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.schedule_tree import leaves
from loopwright.passes.schedules.schedule import Schedule

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
    {"columns": "1 to 3"},
    {"columns": "0 to 3 step 2"},
    {"rows": "0 to %n step 2"},
    {"loaded": "%i + 1, %c"},
    {"loaded": "%i, 2 - %c"},
    {"loaded": "%i, 0"},
    {"scalar": "%c"},
    {"columns": "0 to min affine_map<(d0) -> (3, d0)>(%i)"},
]


def text(width: int = 3, **changes: str) -> str:
    result = PROGRAM.replace("WIDTH", str(width))
    for name, value in (ROWS | changes).items():
        result = result.replace(name.upper(), value)
    return result


def loops(source: str) -> int:
    """How many loops there are."""
    function = generate(Schedule.original(loopwright.load(source)["f"].scop), {})
    return sum(isinstance(op, ForOp) for op in function.walk())


@pytest.mark.parametrize("width", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("rows", ["0 to %n", "2 to %n", "0 to min affine_map<(d0) -> (d0, 9)>(%n)"])
def test_results_are_the_same(width: int, rows: str) -> None:
    source = text(width, rows=rows, columns=f"0 to {width}")
    assert loops(source) == 1
    function = loopwright.load(source)["f"]
    first, end = int(rows[0]), 9 if "min" in rows else 10**6
    random = np.random.default_rng(width)
    for schedule, checked in ((None, False), ("", False), ("", True)):
        kernel = function.compile(schedule, check_bounds=checked, verify=not checked)
        for n in (0, 1, 5, 23):
            a, b = random.random((2, n, width)).astype("f4")
            s, expected = random.random(4).astype("f4"), b.copy()
            part = slice(first, min(n, end))
            value = (a[part].astype("f8") * np.float32(0.5) + s[1]).astype("f4")
            expected[part] = np.where(value < b[part], b[part], value)
            kernel(n, 0.5, a, b, s)
            np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("changes", OTHERS)
def test_other_loops_stay(changes: dict[str, str]) -> None:
    assert loops(text(**changes)) == 2


def test_long_rows_stay() -> None:
    assert loops(text(9, columns="0 to 9")) == 2


def test_accesses_outside_are_found() -> None:
    kernel = loopwright.load(text())["f"].compile("")
    array = np.zeros((4, 3), "f4")
    with pytest.raises(BoundsError):
        kernel(5, 0.5, array, array.copy(), np.zeros(4, "f4"))


def test_the_address_is_that_of_the_element() -> None:
    for width in (2, 3):
        scop = loopwright.load(text(width, columns=f"0 to {width}"))["f"].scop
        llvm_ir = str(
            translate(
                generate(Schedule.original(scop), {"n": 8}),
                target=Target.host(),
                options=Options(num_threads=1),
            )
        )
        addresses = [line for line in llvm_ir.splitlines() if "getelementptr" in line]
        assert addresses and not any("sdiv" in line or "srem" in line for line in addresses)
        values = {line.split(" = ")[0].strip() for line in llvm_ir.splitlines() if "phi" in line}
        assert any(value in line for value in values for line in addresses)


@pytest.mark.parametrize(("changes", "expected"), [({}, 300.0), *((each, None) for each in OTHERS)])
def test_estimates_know(changes: dict[str, str], expected: float | None) -> None:
    schedule = loopwright.load(text(**changes))["f"].schedule("")
    context = SchedulingContext({"n": 100, "A_dim0": 101, "B_dim0": 100}, 1)
    ((_, around), *_) = leaves(schedule.tree)
    assert coalesced_elements(ScheduledProgram(schedule, context), around) == expected
