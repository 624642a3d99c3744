"""Masked stores of one lane write one element, and masked loads with unused lanes are compiled."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.machine.target import Target
from loopwright.runtime.calling.elements import BFLOAT16
from loopwright.runtime.jit.masked_accesses import with_sound_masks
from loopwright.runtime.jit.object_code import optimised_ir

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
        assert with_sound_masks(text) == text
    text = MASKED.format(lanes=4, mask="i1 true, i1 false, i1 false, i1 false")
    with_alignment = text.replace("ptr %p, i32 2,", "ptr align 2 %p,")
    assert "store i16 %one.lane.0, ptr %one.lane.0.p, align 2" in with_sound_masks(text)
    assert "store i16 %one.lane.0, ptr %one.lane.0.p, align 2" in with_sound_masks(with_alignment)


LOAD = """
define <4 x float> @f(ptr %p, <8 x i32> %n) {
  %m = icmp sgt <8 x i32> %n, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %s = shufflevector <8 x i1> %m, <8 x i1> zeroinitializer, \
<8 x i32> <i32 0, i32 8, i32 1, i32 8, i32 2, i32 8, i32 3, i32 8>
  %t = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %p, i32 4, <8 x i1> %s, \
<8 x float> zeroinitializer)
  %e = shufflevector <8 x float> %t, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  ret <4 x float> %e
}
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
"""


@pytest.mark.parametrize("target", ["zen3", "generic-avx2", "generic-avx512"])
def test_unused_lanes_of_a_masked_load_are_zero(target: str) -> None:
    code = optimised_ir(LOAD, target=Target.named(target))
    (call,) = [line for line in code.splitlines() if "call <8 x float> @llvm.masked.load" in line]
    assert "poison" not in call


def test_other_values_of_lanes_that_are_off_stay() -> None:
    for given in ("float 1.0, float poison", "float poison, float poison"):
        arguments = f"ptr %p, <2 x i1> %m, <2 x float> <{given}>"
        text = f"%t = call <2 x float> @llvm.masked.load.v2f32.p0({arguments})"
        assert with_sound_masks(text) == text


@pytest.mark.parametrize("target", ["zen3", "generic-avx512"])
def test_batches_whose_rows_are_loaded_in_parts(target: str) -> None:
    """A strip of problems that are not all there, transposed with masks."""
    text = """
    func.func @f(%batch: index, %n: index, %A: memref<?x?x?xf32>, %x: memref<?x?xf32>) {
      affine.for %b = 0 to %batch {
        affine.for %i = 0 to %n {
          affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
            %0 = affine.load %x[%b, %i] : memref<?x?xf32>
            %1 = affine.load %A[%b, %i, %j] : memref<?x?x?xf32>
            %2 = affine.load %x[%b, %j] : memref<?x?xf32>
            %3 = arith.mulf %1, %2 : f32
            %4 = arith.subf %0, %3 : f32
            affine.store %4, %x[%b, %i] : memref<?x?xf32>
          }
          %5 = affine.load %x[%b, %i] : memref<?x?xf32>
          %6 = affine.load %A[%b, %i, %i] : memref<?x?x?xf32>
          %7 = arith.divf %5, %6 : f32
          affine.store %7, %x[%b, %i] : memref<?x?xf32>
        }
      }
      return
    }"""
    steps = (
        "strip-mine{loops=b size=8},pack{loops=bt array=x order=1,0},"
        "interchange{loops=pack_x.x1,pack_x.x0},vectorize{loops=pack_x.x0 width=8},"
        "unroll{loops=pack_x.x1 factor=4},interchange{loops=unpack_x.x1,unpack_x.x0},"
        "vectorize{loops=unpack_x.x1 width=4},unroll{loops=unpack_x.x0},"
        "pack{loops=bt array=A order=1,2,0},"
        "interchange{loops=A1,A2,A0},vectorize{loops=A0 width=8},unroll{loops=A2 factor=4},"
        "vectorize{loops=b width=8}"
    )
    function = loopwright.load(text)["f"]
    chosen = Target.named(target)
    if not chosen.features <= Target.host().features:
        pytest.skip("this processor does not have the instructions")
    kernel = function.compile(function.schedule(steps, chosen), threads=1, target=chosen)
    for batch, n in ((33, 2), (7, 9), (8, 3), (1, 12), (15, 6), (9, 5)):
        matrices = np.random.default_rng(n).random((batch, n, n), np.float32)
        found = np.random.default_rng(batch).random((batch, n), np.float32)
        expected = found.copy()
        function.compile(None, threads=1)(batch, n, matrices, expected)
        kernel(batch, n, matrices, found)
        np.testing.assert_array_equal(found, expected)
