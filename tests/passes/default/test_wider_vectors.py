"""Vectors of several registers for chains of operations that wait for each other."""

from __future__ import annotations

import re

import numpy as np
import pytest

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.machine.target import Target

MAP = """
func.func @f(%r: memref<NxTYPE>, %x: memref<NxTYPE>) {
  %one = arith.constant 1.0 : TYPE
  affine.for %i = 0 to N {
    affine.for %t = 0 to 100 {
      %0 = affine.load %x[%i] : memref<NxTYPE>
      %1 = affine.load %r[%i] : memref<NxTYPE>
      %2 = arith.subf %one, %0 : TYPE
      %3 = arith.mulf %0, %2 : TYPE
      %4 = arith.mulf %1, %3 : TYPE
      affine.store %4, %x[%i] : memref<NxTYPE>
    }
  }
  return
}
"""

PAIR = """
func.func @f(%r: memref<NxTYPE>, %x: memref<NxTYPE>, %y: memref<NxTYPE>) {
  affine.for %i = 0 to N {
    affine.for %t = 0 to 100 {
      %0 = affine.load %x[%i] : memref<NxTYPE>
      %1 = affine.load %y[%i] : memref<NxTYPE>
      %2 = affine.load %r[%i] : memref<NxTYPE>
      %3 = arith.mulf %2, %1 : TYPE
      %4 = arith.addf %0, %3 : TYPE
      affine.store %4, %x[%i] : memref<NxTYPE>
      %5 = affine.load %x[%i] : memref<NxTYPE>
      %6 = arith.mulf %2, %5 : TYPE
      %7 = arith.subf %1, %6 : TYPE
      affine.store %7, %y[%i] : memref<NxTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize("target", ["zen4", "zen3"])
@pytest.mark.parametrize(("kind", "bits"), [("f64", 64), ("f32", 32)])
@pytest.mark.parametrize("text", [MAP, PAIR], ids=["map", "pair"])
def test_iterated_maps_run_side_by_side(text: str, kind: str, bits: int, target: str) -> None:
    program = loopwright.load(text.replace("TYPE", kind).replace("N", "20011"))["f"]
    named = Target.named(target)
    chosen = str(default_schedule(program.scop, {}, named, threads=2))
    (width,) = re.findall(r"vectorize\{loops=i width=(\d+)\}", chosen)
    assert int(width) in {2 * named.vector_bits // bits, 4 * named.vector_bits // bits}


@pytest.mark.parametrize("count", [1, 17, 203])
@pytest.mark.parametrize("text", [MAP, PAIR], ids=["map", "pair"])
def test_results(text: str, count: int) -> None:
    program = loopwright.load(text.replace("TYPE", "f64").replace("N", str(count)))["f"]
    names = [each.name for each in program.scop.arrays]
    values = np.random.default_rng(5).random((len(names), count))
    results: list[np.ndarray] = []
    for schedule in (None, "vectorize{loops=i width=32}", "vectorize{loops=i width=8}"):
        arrays = [each.copy() for each in values]
        program.compile(schedule, threads=2, verify=True)(*arrays)
        results.append(np.array(arrays))
    for each in results[1:]:
        np.testing.assert_array_equal(each, results[0])
