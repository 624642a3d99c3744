"""Vectors of a known number of leading lanes: results, no access behind them, no masks."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES
from support.targets import NARROW

import loopwright
from loopwright.lowering.generate import generate
from loopwright.lowering.llvm import Options, translate
from loopwright.lowering.llvm.leading_lanes import leading_lanes
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text

TEXT = """
func.func @f(%A: memref<3xNxTYPE>, %B: memref<3xNxTYPE>) {
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to N {
      %0 = affine.load %A[%i, %j] : memref<3xNxTYPE>
      %1 = affine.load %B[%i, %j] : memref<3xNxTYPE>
      %2 = arith.ADD %0, %1 : TYPE
      affine.store %2, %B[%i, %j] : memref<3xNxTYPE>
    }
  }
  return
}
"""

NO_MASKS = ["llvm.masked.load", "llvm.masked.store"]


def text_of(kind: str, count: int) -> str:
    addition = "addf" if kind[0] == "f" else "addi"
    return TEXT.replace("TYPE", kind).replace("N", str(count)).replace("ADD", addition)


def llvm_ir(text: str, schedule: str) -> str:
    scop = loopwright.load(text)["f"].scop
    scheduled = apply_text(schedule, Schedule.original(scop, NARROW))
    return str(translate(generate(scheduled, {}), target=NARROW, options=Options()))


@pytest.mark.parametrize("kind", ["i8", "i16", "f32", "f64"])
@pytest.mark.parametrize("count", [*range(1, 9), 13, 15, 17, 30, 31, 33, 47])
def test_rows_of_any_length(kind: str, count: int) -> None:
    kernel = loopwright.load(text_of(kind, count))["f"].compile(
        "vectorize{loops=j width=16}", target=Target.named("generic-avx2"), verify=True
    )
    # The rows lie next to each other: what is touched behind one is seen in the next.
    a = np.arange(3 * count).reshape(3, count).astype(NUMPY_TYPES[kind])
    b = (7 * a).astype(NUMPY_TYPES[kind])
    kernel(a, b)
    assert np.array_equal(b, (8 * a).astype(NUMPY_TYPES[kind]))


@pytest.mark.parametrize(
    ("kind", "masked"), [("i8", []), ("i16", []), ("f32", NO_MASKS[:1]), ("f64", NO_MASKS[:1])]
)
def test_only_what_the_target_has_masks_for_is_masked(kind: str, masked: list[str]) -> None:
    found = llvm_ir(text_of(kind, 46), "vectorize{loops=j width=16}")
    assert [name for name in NO_MASKS if name in found] == masked


def test_which_lanes_are_leading() -> None:
    assert leading_lanes((True, True, False)) == 2
    for others in [None, (True, True), (False, False), (False, True), (True, False, True)]:
        assert leading_lanes(others) is None
