"""Bytes that are extended as they are packed: by the same numbers, in two steps instead of one."""

from __future__ import annotations

import pytest
from support.scops import schedule_of
from support.validation import generated, verdict

from loopwright.lowering.validation.correspondence import correspond
from loopwright.lowering.validation.verdict import NotKnownError
from loopwright.passes.syntax.formats import apply_text

PRODUCT = """
func.func @product(%n: index, %A: memref<?x?xi8>, %B: memref<?x?xi8>, %C: memref<?x?xi32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %c = affine.load %C[%i, %j] : memref<?x?xi32>
        %a = affine.load %A[%i, %k] : memref<?x?xi8>
        %b = affine.load %B[%k, %j] : memref<?x?xi8>
        %x = arith.EXTEND %a : i8 to i32
        %y = arith.extsi %b : i8 to i32
        %p = arith.muli %x, %y : i32
        %s = arith.addi %c, %p : i32
        affine.store %s, %C[%i, %j] : memref<?x?xi32>
      }
    }
  }
  return
}
"""
STEPS = "pack{loops=i array=A widened=true}"


@pytest.mark.parametrize("extend", ["extsi", "extui"])
def test_widened_bytes_are_proved(extend: str) -> None:
    schedule = apply_text(STEPS, schedule_of(PRODUCT.replace("EXTEND", extend)))
    assert str(verdict(schedule, {"n": 5})) == "proved"


@pytest.mark.parametrize("extends", [("extsi", "extui"), ("extui", "extsi")])
def test_another_extension_is_not(extends: tuple[str, str]) -> None:
    one, other = (schedule_of(PRODUCT.replace("EXTEND", each)) for each in extends)
    made = generated(apply_text(STEPS, other), {"n": 5})
    with pytest.raises(NotKnownError, match="does not compute"):
        correspond(one.program, made.scop)
