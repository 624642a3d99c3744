"""What LLVM's passes leave invalid is compiled with fewer of them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from loopwright.passes.machine.target import Target
from loopwright.runtime.jit import object_code as jit
from loopwright.runtime.program import load

# SROA of LLVM 22 fills E_old with vectors of other blocks; the result was wrong on AVX-512.
SELECTED = """
func.func @f(%n: index, %m: index, %A: memref<?x?xcomplex<f64>>, %E: memref<?x?xcomplex<f64>>) {
  %two = complex.constant [2.0 : f64, 0.0 : f64] : complex<f64>
  %three = complex.constant [3.0 : f64, 0.0 : f64] : complex<f64>
  %i = complex.constant [0.0 : f64, 1.0 : f64] : complex<f64>
  affine.for %k = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
    %old = memref.alloc(%m, %m) : memref<?x?xcomplex<f64>>
    affine.for %row = 0 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
      affine.for %column = 0 to %m {
        %0 = affine.load %E[%row + 1, %column] : memref<?x?xcomplex<f64>>
        %1 = complex.eq %0, %two : complex<f64>
        %2 = affine.load %A[symbol(%n) - 3, %column] : memref<?x?xcomplex<f64>>
        %3 = complex.eq %three, %2 : complex<f64>
        %4 = affine.load %E[symbol(%m) - 2, %column] : memref<?x?xcomplex<f64>>
        %5 = complex.mul %4, %i : complex<f64>
        %6 = arith.select %3, %5, %i : complex<f64>
        %7 = affine.load %E[1, %row] : memref<?x?xcomplex<f64>>
        %8 = complex.add %6, %7 : complex<f64>
        %9 = complex.mul %8, %i : complex<f64>
        %10 = arith.select %1, %9, %i : complex<f64>
        affine.store %10, %old[%row, %column] : memref<?x?xcomplex<f64>>
      }
    }
    affine.for %row = 1 to %m {
      affine.for %column = 0 to %m {
        %11 = affine.load %old[%row - 1, %column] : memref<?x?xcomplex<f64>>
        %12 = affine.load %E[%row, %column] : memref<?x?xcomplex<f64>>
        %13 = complex.sub %12, %11 : complex<f64>
        affine.store %13, %E[%row, %column] : memref<?x?xcomplex<f64>>
      }
    }
    memref.dealloc %old : memref<?x?xcomplex<f64>>
  }
  return
}
"""


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize("m", [3, 4, 5, 6, 8])
def test_local_arrays_of_a_few_vectors(m: int, schedule: str | None) -> None:
    n = 6
    real, imaginary = np.random.default_rng(0).integers(-9, -4, (2, n + m, m))
    numbers = real + 1j * imaginary
    array = numbers[n:].copy()
    load(SELECTED)["f"].compile(schedule)(n, m, numbers[:n].copy(), array)
    expected = numbers[n:].copy()
    expected[1:] -= 1j * (n - 2)
    np.testing.assert_array_equal(array, expected)


TWICE = "define i64 @twice(i64 %a) {\n  %b = add i64 %a, %a\n  ret i64 %b\n}\n"


@pytest.mark.parametrize("invalid", [("_vectorised",), ("_vectorised", "_simplified")])
def test_fewer_passes_where_the_result_is_invalid(
    invalid: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Invalid:
        is_valid = False

    def attempt(name: str) -> None:
        def fail(_text: str, _target: Target) -> Invalid:
            asked.append(name)
            return Invalid()

        monkeypatch.setattr(jit, name, fail)

    for name in invalid:
        attempt(name)
    code = jit.compile_module(TWICE, target=Target.host(), options=jit.CompileOptions(True))
    loaded = jit.load_object(code, ["twice"], {})
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(loaded["twice"])(21) == 42
    assert asked == list(invalid)
