"""Programs written in two ways: what is proved equal, and what is not."""

from __future__ import annotations

import pytest
from support.equivalence import BACKWARDS, IN_A_REGISTER, SUM, UNROLLED, compared, scop

from loopwright.dialects.errors import SourceError
from loopwright.passes.polyhedral.equivalence.equivalence import (
    AssumptionError,
    assumption,
    compare,
)
from loopwright.passes.polyhedral.equivalence.parameters import (
    check_signatures,
    with_parameters_of,
)
from loopwright.passes.polyhedral.equivalence.witness import find_witness

COPY = """func.func @f(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
  affine.for %i = 0 to %n {
    %1 = affine.load %A[%i] : memref<?xf64>
    affine.store %1, %A[%i] : memref<?xf64>
  }
  return
}"""

NOTHING = """func.func @f(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
  return
}"""


@pytest.mark.parametrize("other", [SUM, IN_A_REGISTER, UNROLLED])
def test_equal(other: str) -> None:
    assert compared(SUM, other).is_proved
    assert compared(other, SUM).is_proved


def test_copies_are_seen_through() -> None:
    # The elements that one program alone writes keep their values; only subscripts are in question.
    assert compared(COPY, NOTHING, "n <= A_dim0").is_proved


def test_order_of_a_sum() -> None:
    one = scop(SUM)
    other = with_parameters_of(scop(BACKWARDS), one)
    assert not compare(one, other).is_proved
    assert find_witness(one, other, {"n": 1, "A_dim0": 1}) is None
    assert find_witness(one, other, {"n": 3, "A_dim0": 3}) is not None


def test_assumption() -> None:
    assert not compared(SUM, BACKWARDS, "n <= 2").is_proved
    assert compared(SUM, BACKWARDS, "n <= 1").is_proved
    with pytest.raises(AssumptionError, match="of n, A_dim0"):
        assumption(scop(SUM), "n >")


def test_outside_of_an_array() -> None:
    further = SUM.replace("0 to %n", "0 to affine_map<()[s0] -> (s0 + 1)>()[%n]")
    comparison = compared(SUM, further)
    assert comparison.reason is not None and "accesses arrays" in comparison.reason


def test_undefined_values() -> None:
    text = """func.func @f(%s: memref<f64>) {
      %x = memref.alloc() : memref<f64>
      %0 = affine.load %x[] : memref<f64>
      affine.store %0, %s[] : memref<f64>
      return
    }"""
    comparison = compared(text, text)
    assert comparison.reason is not None and "before it is written" in comparison.reason


def test_fast_math_flags_count() -> None:
    flagged = SUM.replace("arith.addf %0, %1", "arith.addf %0, %1 fastmath<fast>")
    assert not compared(SUM, flagged).is_proved


def test_budget() -> None:
    one = scop(SUM)
    reason = compare(one, with_parameters_of(scop(UNROLLED), one), operations=10).reason
    assert reason is not None and "too complex" in reason


def test_signatures() -> None:
    with pytest.raises(SourceError, match="another signature"):
        check_signatures(scop(SUM).func, scop(SUM.replace("f64", "f32")).func)
