"""Quotients of short integers and constants: the bits of the division, without one."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.machine.target import Target

DIVISORS = (255.0, 127.5, 3.0, 7.0, 256.0, 0.1, 1e-3, 58.395, 1e9, 49.0, 97.3)

PIXELS = """
func.func @f(%x: memref<256xi8>, %y: memref<256xTYPE>) {
  %c = arith.constant DIVISOR : TYPE
  affine.for %i = 0 to 256 {
    %a = affine.load %x[%i] : memref<256xi8>
    %b = arith.extEXT %a : i8 to i32
    %d = arith.sitofp %b : i32 to TYPE
    %q = arith.divf %d, %c : TYPE
    affine.store %q, %y[%i] : memref<256xTYPE>
  }
  return
}
"""

DIFFERENCES = """
func.func @f(%x: memref<256xi8>, %z: memref<256xi8>, %y: memref<256x256xTYPE>) {
  %c = arith.constant DIVISOR : TYPE
  affine.for %j = 0 to 256 {
    affine.for %i = 0 to 256 {
      %a = affine.load %x[%i] : memref<256xi8>
      %b = arith.extui %a : i8 to i32
      %e = affine.load %z[%j] : memref<256xi8>
      %f = arith.extui %e : i8 to i32
      %g = arith.subi %b, %f : i32
      %d = arith.sitofp %g : i32 to TYPE
      %q = arith.divf %d, %c : TYPE
      affine.store %q, %y[%j, %i] : memref<256x256xTYPE>
    }
  }
  return
}
"""

KINDS = {"f32": np.float32, "f64": np.float64}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("extension", ["ui", "si"])
@pytest.mark.parametrize("schedule", ["", "vectorize{loops=i width=8}"])
def test_all_pixels(schedule: str, extension: str, kind: str) -> None:
    x = np.arange(256).astype(np.int8)
    wide = x.astype(int) if extension == "si" else x.view(np.uint8).astype(int)
    for divisor in DIVISORS:
        text = PIXELS.replace("TYPE", kind).replace("EXT", extension)
        function = loopwright.load(text.replace("DIVISOR", repr(divisor)))["f"]
        y = np.zeros(256, KINDS[kind])
        function.compile(schedule, threads=1)(x, y)
        expected = wide.astype(KINDS[kind]) / KINDS[kind](divisor)
        np.testing.assert_array_equal(y.view(np.int8), expected.view(np.int8), str(divisor))


@pytest.mark.parametrize("kind", KINDS)
def test_differences(kind: str) -> None:
    x = np.arange(256).astype(np.uint8).view(np.int8)
    for divisor in DIVISORS[:4]:
        text = DIFFERENCES.replace("TYPE", kind).replace("DIVISOR", repr(divisor))
        y = np.zeros((256, 256), KINDS[kind])
        loopwright.load(text)["f"].compile("", threads=1)(x, x, y)
        wide = np.arange(256)[None, :] - np.arange(256)[:, None]
        expected = wide.astype(KINDS[kind]) / KINDS[kind](divisor)
        np.testing.assert_array_equal(y.view(np.int8), expected.view(np.int8))


def test_which_have_no_division() -> None:
    text = PIXELS.replace("TYPE", "f32").replace("DIVISOR", "255.0")
    for name, extension, divides in (
        ("generic-avx2", "ui", False),
        ("generic-avx2", "si", False),
        ("generic-sse2", "ui", True),
    ):
        function = loopwright.load(text.replace("EXT", extension))["f"]
        code = function.compile("", threads=1, target=Target.named(name)).specialise(
            np.zeros(256, np.int8), np.zeros(256, np.float32)
        )
        assert ("fdiv" in code.llvm_ir) == divides
    wide = text.replace("memref<256xi8>", "memref<256xi16>").replace("%a : i8", "%a : i16")
    function = loopwright.load(wide.replace("EXT", "ui"))["f"]
    code = function.compile("", threads=1).specialise(
        np.zeros(256, np.int16), np.zeros(256, np.float32)
    )
    assert "fdiv" in code.llvm_ir
