"""Values that statements in different loops hand each other: what is loaded and stored at all."""

from __future__ import annotations

import pytest
from support.scops import schedule_of

from loopwright.passes.estimate.handed_values import handed_values
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import Loop, nests
from loopwright.passes.syntax.pipeline import parse_pipeline

SUMS = """
func.func @f(%D: memref<100x40xTYPE>, %E: memref<100xTYPE>, %X: memref<100x40x30xTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %ROW = 0 to 100 {
    affine.for %COLUMN = 0 to 40 {
      affine.store %zero, %D[%ROW, %COLUMN] : memref<100x40xTYPE>
      affine.for %k = 0 to 30 {
        %0 = affine.load %D[%ROW, %COLUMN] : memref<100x40xTYPE>
        %1 = affine.load %X[%ROW, %COLUMN, %k] : memref<100x40x30xTYPE>
        %2 = arith.addf %0, %1 : TYPE
        affine.store %2, %D[%ROW, %COLUMN] : memref<100x40xTYPE>
      }
      %3 = affine.load %D[%ROW, %COLUMN] : memref<100x40xTYPE>
      %4 = affine.load %E[%ROW] : memref<100xTYPE>
      %5 = arith.maximumf %3, %4 : TYPE
      affine.store %5, %E[%ROW] : memref<100xTYPE>
    }
  }
  return
}
"""


def handed(steps: str, kind: str = "f32", row: str = "i", column: str = "j") -> list[str]:
    """The accesses that are none, as `S1 reads D`."""
    text = SUMS.replace("TYPE", kind).replace("ROW", row).replace("COLUMN", column)
    schedule = schedule_of(text).apply_all(parse_pipeline(steps))
    program = ScheduledProgram(schedule, SchedulingContext({}, 1))
    return sorted(
        f"{name} {access.kind.name.lower()}s {access.array.name}"
        for nest in nests(schedule.tree)
        if isinstance(nest, Loop)
        for name, access in handed_values(program, nest)
    )


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("names", [("i", "j"), ("b", "a")])
@pytest.mark.parametrize("steps", ["", "unroll{loops=k factor=4}", "vectorize{loops=ROW width=8}"])
def test_a_sum_is_stored_once(kind: str, names: tuple[str, str], steps: str) -> None:
    """What it starts with is not stored, nor is what it has come to loaded."""
    found = handed(steps.replace("ROW", names[0]), kind, *names)
    assert found == ["S0 writes D", "S1 reads D", "S2 reads D"]


def test_tiles_of_sums_are_handed_on_as_far_as_registers_go() -> None:
    """Loops that are unrolled inside of the one over the terms; nothing between nests."""
    assert handed("distribute{loops=i,j}") == []
    for rows, expected in ((4, ["S0 writes D", "S1 reads D"]), (64, [])):
        steps = (
            f"distribute{{loops=i,j after=S1}},tile{{loops=S0.i,S0.j sizes={rows},4}},"
            "distribute{loops=S0.i,S0.j},interchange{loops=k,S1.i,S1.j},"
            "unroll{loops=S1.i,S1.j},unroll{loops=S0.i,S0.j}"
        )
        assert handed(steps) == expected
