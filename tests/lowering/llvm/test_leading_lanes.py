"""Vectors of a known number of leading lanes: results, no access behind them, no masks."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES
from support.targets import NARROW, WIDE

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


WEIGHTED = """
func.func @weighted(%A: memref<21xTYPE>, %B: memref<19xTYPE>) {
  %half = arith.constant 0.5 : TYPE
  %quarter = arith.constant 0.25 : TYPE
  %zero = arith.constant 0.0 : TYPE
  affine.for %i = 0 to 19 {
    %w = memref.alloca() : memref<TYPE>
    %s = affine.for %d = 0 to 3 iter_args(%t = %zero) -> (TYPE) {
      affine.store %quarter, %w[] : memref<TYPE>
      affine.if affine_set<(d) : (d - 1 == 0)>(%d) {
        affine.store %half, %w[] : memref<TYPE>
      }
      %0 = affine.load %w[] : memref<TYPE>
      %1 = affine.load %A[%i + %d] : memref<21xTYPE>
      %2 = arith.mulf %0, %1 : TYPE
      %3 = arith.addf %t, %2 : TYPE
      affine.yield %3 : TYPE
    }
    affine.store %s, %B[%i] : memref<19xTYPE>
  }
  return
}
"""


@pytest.mark.parametrize(("kind", "count"), [("f32", 3), ("f64", 3)])
def test_scalars_of_the_last_vector_stay_in_registers(kind: str, count: int) -> None:
    """A load under a mask would wait for what is stored in two pieces."""
    function = loopwright.load(WEIGHTED.replace("TYPE", kind))["weighted"]
    scheduled = apply_text(
        "vectorize{loops=i width=8}", Schedule.original(function.scop, Target.named("zen4"))
    )
    found = str(translate(generate(scheduled, {}), target=WIDE, options=Options()))
    typed = {"f32": "float", "f64": "double"}[kind]
    assert f"load <{count} x {typed}>" in found
    a, b = np.random.default_rng(0).random(21).astype(NUMPY_TYPES[kind]), np.zeros(19)
    results = [b.astype(NUMPY_TYPES[kind]) for _ in range(2)]
    for steps, result in zip((None, "vectorize{loops=i width=8}"), results, strict=True):
        function.compile(steps, verify=True)(a, result)
    np.testing.assert_array_equal(*results)
