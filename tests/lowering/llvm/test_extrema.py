"""Minimum and maximum: which code is emitted for a target, and NaN and zeros in recurrences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES, MachineCode

from loopwright.dialects.parse import parse_module
from loopwright.lowering.llvm import Options, translate
from loopwright.passes.machine.target import Target

NAMES = ("minimumf", "maximumf")
RECURRENCE = """
func.func @f(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  affine.for %i = 1 to %n {
    %a = affine.load %y[%i - 1] : memref<?xf32>
    %b = affine.load %x[%i] : memref<?xf32>
    %c = arith.minimumf %a, %b : f32
    affine.store %c, %y[%i] : memref<?xf32>
  }
  return
}"""
CARRIED = """
func.func @f(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  %first = affine.load %y[0] : memref<?xf32>
  %last = affine.for %i = 1 to %n iter_args(%a = %first) -> (f32) {
    %b = affine.load %x[%i] : memref<?xf32>
    %c = arith.minimumf %a, %b : f32
    affine.store %c, %y[%i] : memref<?xf32>
    affine.yield %c : f32
  }
  return
}"""
ACCUMULATED = RECURRENCE.replace("%y[%i - 1]", "%y[0]").replace("%y[%i]", "%y[0]")
REDUCED = CARRIED.replace("    affine.store %c, %y[%i] : memref<?xf32>\n", "").replace(
    "  return", "  affine.store %last, %y[0] : memref<?xf32>\n  return"
)
CHAIN = ACCUMULATED.replace(
    "    affine.store", "    %d = arith.minimumf %b, %c : f32\n    affine.store"
).replace("store %c", "store %d")
CONSTANT = RECURRENCE.replace(
    "  affine.for", "  %zero = arith.constant 0.0 : f32\n  affine.for"
).replace("%a, %b", "%b, %zero")
PROGRAMS = {
    "recurrence": (RECURRENCE, False),
    "carried": (CARRIED, False),
    "elementwise": (RECURRENCE.replace("[%i - 1]", "[%i]"), False),
    "accumulated": (ACCUMULATED, True),
    "reduced": (REDUCED, True),
    "chain": (CHAIN, True),
    "constant": (CONSTANT, True),
}


def variant(text: str, name: str, kind: str) -> str:
    return text.replace("minimumf", name).replace("f32", kind)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_where_the_intrinsic_stays(program: str, name: str) -> None:
    """LLVM makes vectors of what is accumulated, and knows more about constants."""
    text, stays = PROGRAMS[program]
    for target, expected in (
        ("generic-avx2", stays),
        ("generic-avx512", stays),
        ("generic-neon", True),
    ):
        module = parse_module(variant(text, name, "f32"))
        emitted = str(translate(module, target=Target.named(target)))
        assert (f"llvm.{name.removesuffix('f')}" in emitted) == expected, target


def test_fast_math_of_the_program_needs_no_care() -> None:
    text = RECURRENCE.replace("minimumf %a, %b", "minimumf %a, %b fastmath<nnan,nsz>")
    target = Target.named("generic-avx512")
    assert "llvm.minimum" in str(translate(parse_module(text), target=target))
    fast = str(translate(parse_module(RECURRENCE), target=target, options=Options(fast_math=True)))
    assert "llvm.minimum" not in fast, "fast math keeps NaN"


def combined(name: str, a: float, b: float) -> float:
    """IEEE minimum or maximum of two numbers."""
    if np.isnan(a) or np.isnan(b):
        return float("nan")
    sign = -1.0 if name == "minimumf" else 1.0
    return float(sign * max((sign * a, sign * b), key=lambda v: (v, not np.signbit(v))))


ORDERS = [
    list(order) for order in itertools.permutations([0.0, -0.0, 2.5, -1.5, np.inf, -np.inf], 3)
]
ORDERS += [[1.0, np.nan, -3.0, np.inf], [np.nan, -0.0, 0.0], [-2.0, 0.0, np.nan], [-np.nan, 5.0]]


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("program", ["recurrence", "carried", "accumulated", "reduced", "chain"])
def test_values(program: str, name: str, kind: str) -> None:
    text, is_accumulated = PROGRAMS[program]
    code = MachineCode(variant(text, name, kind))
    for order in ORDERS:
        x = np.array(order, NUMPY_TYPES[kind])
        y = x.copy()
        code("f", len(x), x, y)
        expected = x.copy()
        for i in range(1, len(x)):
            before = expected[0 if is_accumulated else i - 1]
            expected[0 if is_accumulated else i] = combined(name, float(before), float(x[i]))
        np.testing.assert_array_equal(y, expected)
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(y)[numbers], np.signbit(expected)[numbers])
