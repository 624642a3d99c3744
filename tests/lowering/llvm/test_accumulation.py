"""Running sums are not fused; everything else is."""

from __future__ import annotations

import pytest
from support.machine_code import MachineCode

DOT = """
func.func @f(%n: index, %s: memref<f64>, %a: memref<?xf64>, %b: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %s[] : memref<f64>
    %1 = affine.load %a[%i] : memref<?xf64>
    %2 = affine.load %b[%i] : memref<?xf64>
    %3 = arith.mulf %1, %2 : f64
    %4 = arith.OPERATION %0, %3 : f64
    affine.store %4, %s[] : memref<f64>
  }
  return
}
"""
CARRIED = """
func.func @f(%n: index, %a: memref<?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  %s = affine.for %i = 0 to %n iter_args(%t = %zero) -> (f64) {
    %1 = affine.load %a[%i] : memref<?xf64>
    %2 = arith.mulf %1, %1 : f64
    %3 = arith.addf %2, %t : f64
    %4 = arith.addf %3, %1 : f64
    affine.yield %4 : f64
  }
  return %s : f64
}
"""
UPDATE = """
func.func @f(%n: index, %x: f64, %y: memref<?xf64>, %a: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %y[%i] : memref<?xf64>
    %1 = affine.load %a[%i] : memref<?xf64>
    %2 = arith.mulf %1, %x : f64
    %3 = arith.addf %0, %2 : f64
    affine.store %3, %y[%i] : memref<?xf64>
  }
  return
}
"""


def many_sums(count: int) -> str:
    body = "".join(
        f"""
    %l{k} = affine.load %s[{k}] : memref<8xf64>
    %a{k} = arith.addf %l{k}, %p : f64
    affine.store %a{k}, %s[{k}] : memref<8xf64>"""
        for k in range(count)
    )
    return f"""
func.func @f(%n: index, %s: memref<8xf64>, %a: memref<?xf64>) {{
  affine.for %i = 0 to %n {{
    %v = affine.load %a[%i] : memref<?xf64>
    %p = arith.mulf %v, %v : f64{body}
  }}
  return
}}
"""


def additions(text: str, *, fast_math: bool = False) -> list[bool]:
    """Of every addition and subtraction of a program, whether it may be fused."""
    lines = MachineCode(text, fast_math=fast_math).llvm_ir.splitlines()
    return ["contract" in line for line in lines if "fadd" in line or "fsub" in line]


@pytest.mark.parametrize(
    ("text", "fused"),
    [
        (DOT.replace("OPERATION", "addf"), [False]),
        (DOT.replace("OPERATION", "subf"), [False]),
        (DOT.replace("arith.OPERATION %0, %3", "arith.subf %3, %0"), [True]),
        (CARRIED, [False, False]),
        (UPDATE, [True]),
        (many_sums(4), [False] * 4),
        (many_sums(5), [True] * 5),
    ],
)
def test_which_additions_are_fused(text: str, fused: list[bool]) -> None:
    assert additions(text) == fused


def test_with_fast_math_the_order_is_free_and_nothing_waits() -> None:
    assert additions(DOT.replace("OPERATION", "addf"), fast_math=True) == [True]
