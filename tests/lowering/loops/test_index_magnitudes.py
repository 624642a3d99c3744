"""The sizes with which indices stay inside of their types."""

from __future__ import annotations

import pytest
from xdsl.dialects import func

from loopwright.dialects.parse import parse_module
from loopwright.lowering.loops.index_magnitudes import SizeLimits, size_limits
from loopwright.lowering.loops.magnitude import exactly

ROOM = 1 << 62


def limits(arguments: str, body: str, **options: bool) -> SizeLimits:
    text = f"func.func @f({arguments}, %Y: memref<?xi32>) {{\n  {body}\n  return\n}}"
    (function,) = parse_module(text).ops
    assert isinstance(function, func.FuncOp)
    return size_limits(function, {}, **options)


def narrow(arithmetic: str) -> str:
    return f"""%c = arith.constant 3 : i32
  %x = {arithmetic} : i32
  %end = arith.index_cast %x : i32 to index
  affine.for %i = 0 to %end {{
    affine.store %c, %Y[%i] : memref<?xi32>
  }}"""


@pytest.mark.parametrize(
    ("arithmetic", "largest"),
    [
        ("arith.addi %m, %c", 2**31 - 4),
        ("arith.subi %m, %c", 2**31 - 4),
        ("arith.muli %c, %m", (2**31 - 1) // 3),
        ("arith.minsi %m, %c", 2**61),
        ("arith.muli %m, %m", 2**61),
    ],
)
def test_narrow_arithmetic(arithmetic: str, largest: int) -> None:
    """What makes a bound must not wrap around; products of sizes are not affine."""
    found = limits("%m: i32", narrow(arithmetic), arithmetic_only=True)
    assert found.fits and found.largest.get((0, None), 2**61) == largest


def test_conditions() -> None:
    text = """%one = arith.constant 1 : i32
  affine.for %i = 0 to 8 {
    affine.if affine_set<(d0)[s0] : (s0 * 3 - d0 - 1 >= 0)>(%i)[%t] {
      affine.store %one, %Y[%i] : memref<?xi32>
    }
  }"""
    assert limits("%t: index", text).largest == {(0, None): (ROOM - 9) // 3}
    assert limits("%t: index", text, arithmetic_only=True).largest == {}


def test_loops_around() -> None:
    """Indices are as large as the bounds of their loops; remainders are small."""
    text = """%one = arith.constant 1 : i32
  affine.for %i = 0 to %n {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%n] {
      affine.store %one, %Y[(%i + %j) mod 16] : memref<?xi32>
    }
  }"""
    assert limits("%n: index", text).largest == {(0, None): ROOM // 3}


def test_large_factors() -> None:
    text = f"%0 = affine.apply affine_map<()[s0] -> (s0 + {ROOM + 1})>()[%n]"
    found = limits("%n: index", text)
    assert not found.fits


def test_data() -> None:
    """Arithmetic on data wraps around as ever: it is no index."""
    text = """%k = arith.constant 1103515245 : i32
  affine.for %i = 0 to %n {
    %x = arith.index_cast %i : index to i32
    %h = arith.muli %x, %k : i32
    affine.store %h, %Y[%i] : memref<?xi32>
  }"""
    assert limits("%n: index", text).largest == {(0, None): ROOM - 1}
    assert limits("%n: index", text, arithmetic_only=True).largest == {}


def test_known_values_have_signs() -> None:
    """Three times 1.5 * 2^60 on both sides fits, although the absolute values add up to more."""
    text = """%one = arith.constant 1 : i32
  affine.for %i = 0 to 7 {
    affine.if affine_set<(d0)[s0] : ((d0 - 3) * STEP + s0 >= 0)>(%i)[%t] {
      affine.store %one, %Y[%i] : memref<?xi32>
    }
  }"""
    for step, fits in ((1, True), (2, False)):
        scaled = text.replace("STEP", str(step * 2**60 + 2**59))
        text_of = f"func.func @f(%t: index, %Y: memref<?xi32>) {{\n  {scaled}\n  return\n}}"
        (function,) = parse_module(text_of).ops
        assert isinstance(function, func.FuncOp)
        assert size_limits(function, {(0, None): exactly(5)}).fits == fits


@pytest.mark.parametrize("end", [2**62, 2**63 - 2**33])
@pytest.mark.parametrize("start", [0, -(2**62)])
def test_bounds_are_subtracted_from_each_other(start: int, end: int) -> None:
    text = f"affine.for %i = {start} to %n {{\n  }}"
    (function,) = parse_module(f"func.func @f(%n: index) {{\n  {text}\n  return\n}}").ops
    assert isinstance(function, func.FuncOp)
    assert size_limits(function, {(0, None): exactly(end)}).fits == (start == 0)
