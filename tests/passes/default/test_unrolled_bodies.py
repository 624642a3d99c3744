"""Loops of small problems are unrolled into bodies without loops."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.machine.target import Target
from loopwright.passes.transformations.unroll import Unroll
from loopwright.runtime.program import Function

TYPES = {"f32": np.float32, "f64": np.float64}

# Gauss and Jordan's inverse beside the unit matrix, without pivots.
INVERSE = """
func.func @f(%n: index, %a: memref<?xNxNxTYPE>, %b: memref<?xNxNxTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  %one = arith.constant 1.0 : TYPE
  affine.for %PROBLEM = 0 to %n {
    %m = memref.alloca() : memref<NxTWICExTYPE>
    affine.for %i = 0 to N {
      affine.for %j = 0 to N {
        %0 = affine.load %a[%PROBLEM, %i, %j] : memref<?xNxNxTYPE>
        affine.store %0, %m[%i, %j] : memref<NxTWICExTYPE>
        affine.store %zero, %m[%i, %j + N] : memref<NxTWICExTYPE>
      }
      affine.store %one, %m[%i, %i + N] : memref<NxTWICExTYPE>
    }
    affine.for %k = 0 to N {
      %1 = affine.load %m[%k, %k] : memref<NxTWICExTYPE>
      %2 = arith.divf %one, %1 : TYPE
      affine.for %j = 0 to TWICE {
        %3 = affine.load %m[%k, %j] : memref<NxTWICExTYPE>
        %4 = arith.mulf %3, %2 : TYPE
        affine.store %4, %m[%k, %j] : memref<NxTWICExTYPE>
      }
      affine.for %i = 0 to N {
        affine.if affine_set<(d0, d1) : (d0 - d1 == 0)>(%i, %k) {
        } else {
          %5 = affine.load %m[%i, %k] : memref<NxTWICExTYPE>
          affine.for %j = 0 to TWICE {
            %6 = affine.load %m[%i, %j] : memref<NxTWICExTYPE>
            %7 = affine.load %m[%k, %j] : memref<NxTWICExTYPE>
            %8 = arith.mulf %5, %7 : TYPE
            %9 = arith.subf %6, %8 : TYPE
            affine.store %9, %m[%i, %j] : memref<NxTWICExTYPE>
          }
        }
      }
    }
    affine.for %i = 0 to N {
      affine.for %j = 0 to N {
        %10 = affine.load %m[%i, %j + N] : memref<NxTWICExTYPE>
        affine.store %10, %b[%PROBLEM, %i, %j] : memref<?xNxNxTYPE>
      }
    }
  }
  return
}
"""


def inverse(order: int, element: str, problem: str = "q") -> Function:
    text = INVERSE.replace("TWICE", str(2 * order)).replace("TYPE", element)
    text = text.replace("PROBLEM", problem).replace("xNxN", f"x{order}x{order}")
    text = text.replace("<Nx", f"<{order}x").replace("to N", f"to {order}")
    return loopwright.load(text.replace("+ N]", f"+ {order}]"))["f"]


@pytest.mark.parametrize(("order", "element"), [(3, "f64"), (3, "f32"), (4, "f64")])
def test_small_inverses_are_bodies_without_loops(order: int, element: str) -> None:
    for problem, threads in (("q", 1), ("row", 2)):
        function = inverse(order, element, problem)
        target = Target.named("zen4")
        sizes = {"n": 6000, "a_dim0": 6000, "b_dim0": 6000}
        schedule = default_schedule(function.scop, sizes, target, threads=threads)
        unrolled = [step for step in schedule.transformations if isinstance(step, Unroll)]
        assert any("k" in name for step in unrolled for name in step.loops), str(schedule)


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_inverses_are_right(element: str) -> None:
    function, kind = inverse(3, element), TYPES[element]
    for n, threads in ((1, 1), (37, 2), (300, 2)):
        matrices = np.random.default_rng(n).standard_normal((n, 3, 3)).astype(kind)
        matrices += 4 * np.eye(3, dtype=kind)
        found = [np.zeros_like(matrices), np.zeros_like(matrices)]
        function.compile()(n, matrices, found[0])
        kernel = function.compile("default", threads=threads, verify=True)
        kernel(n, matrices, found[1])
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(found[0], np.linalg.inv(matrices), rtol=1e-3, atol=1e-4)
