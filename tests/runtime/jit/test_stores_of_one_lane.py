"""Masked stores of one known lane write one element, whatever is truncated to it."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.machine.target import Target
from loopwright.runtime.calling.elements import BFLOAT16
from loopwright.runtime.jit.object_code import optimised_ir
from loopwright.runtime.jit.stores_of_one_lane import with_scalar_stores

NARROW = """
func.func @f(%n: index, %X: memref<?x{wide}>, %Z: memref<?x{narrow}>) {{
  affine.for %i = 0 to %n {{
    %x = affine.load %X[%i] : memref<?x{wide}>
    %y = arith.{operation} %x : {wide} to {narrow}
    affine.store %y, %Z[%i] : memref<?x{narrow}>
  }}
  return
}}
"""
TYPES = {
    "i8": np.dtype("i1"),
    "i16": np.dtype("i2"),
    "i32": np.dtype("i4"),
    "i64": np.dtype("i8"),
    "f16": np.dtype("f2"),
    "bf16": BFLOAT16,
    "f32": np.dtype("f4"),
    "f64": np.dtype("f8"),
}
MASKED = """
define void @f(<{lanes} x i32> %v, ptr %p) {{
  %t = trunc <{lanes} x i32> %v to <{lanes} x i16>
  call void @llvm.masked.store.v{lanes}i16.p0(<{lanes} x i16> %t, ptr %p, i32 2, \
<{lanes} x i1> <{mask}>)
  ret void
}}
declare void @llvm.masked.store.v{lanes}i16.p0(<{lanes} x i16>, ptr, i32, <{lanes} x i1>)
"""


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("i32", "i16"),
        ("i64", "i32"),
        ("i32", "i8"),
        ("i64", "i8"),
        ("f32", "bf16"),
        ("f32", "f16"),
        ("f64", "f32"),
    ],
)
def test_nothing_behind_an_array_is_written(wide: str, narrow: str, width: int) -> None:
    operation = "trunci" if wide.startswith("i") else "truncf"
    text = NARROW.format(wide=wide, narrow=narrow, operation=operation)
    kernel = loopwright.load(text)["f"].compile(f"vectorize{{loops=i width={width}}}", threads=1)
    for n in (1, width + 1, 2 * width + 1, 2 * width + 2):
        given = np.ones(n, TYPES[wide])
        memory = np.full((n + 8) * TYPES[narrow].itemsize, 7, np.uint8)
        found = memory.view(TYPES[narrow])
        kernel(n, given, found[:n])
        assert (memory[n * TYPES[narrow].itemsize :] == 7).all(), n
        assert (memory[: n * TYPES[narrow].itemsize] != 7).any(), n


@pytest.mark.parametrize(("lanes", "lane"), [(4, 0), (8, 0), (8, 5), (16, 15)])
def test_one_lane_is_a_scalar_store(lanes: int, lane: int) -> None:
    mask = ", ".join(f"i1 {'true' if each == lane else 'false'}" for each in range(lanes))
    code = optimised_ir(
        MASKED.format(lanes=lanes, mask=mask), target=Target.named("generic-avx512")
    )
    assert "store i16" in code
    assert "call void @llvm.masked.store" not in code


def test_other_masks_stay() -> None:
    for mask in ("i1 true, i1 true, i1 false, i1 false", "i1 true, i1 undef, i1 false, i1 false"):
        text = MASKED.format(lanes=4, mask=mask)
        assert with_scalar_stores(text) == text
    text = MASKED.format(lanes=4, mask="i1 true, i1 false, i1 false, i1 false")
    with_alignment = text.replace("ptr %p, i32 2,", "ptr align 2 %p,")
    assert "store i16 %one.lane.0, ptr %one.lane.0.p, align 2" in with_scalar_stores(text)
    assert "store i16 %one.lane.0, ptr %one.lane.0.p, align 2" in with_scalar_stores(with_alignment)
