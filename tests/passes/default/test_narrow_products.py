"""Products of matrices of f16 and bf16 with sums in f32: copies hold f32."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.machine.target import Target
from loopwright.runtime.calling.elements import ELEMENTS, numbers, stored

PRODUCT = """
func.func @f(%A: memref<{m}x{k}x{t}>, %B: memref<{b}x{t}>, %C: memref<{m}x{n}xf32>) {{
  affine.for %i = 0 to {m} {{
    affine.for %j = 0 to {n} {{
      affine.for %k = 0 to {k} {{
        %c = affine.load %C[%i, %j] : memref<{m}x{n}xf32>
        %a = affine.load %A[%i, %k] : memref<{m}x{k}x{t}>
        %b = affine.load %B[{at}] : memref<{b}x{t}>
        %x = arith.extf %a : {t} to f32
        %y = arith.extf %b : {t} to f32
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<{m}x{n}xf32>
      }}
    }}
  }}
  return
}}
"""


def program(t: str, m: int, n: int, k: int, *, transposed: bool = False) -> str:
    b, at = (f"{n}x{k}", "%j, %k") if transposed else (f"{k}x{n}", "%k, %j")
    return PRODUCT.format(t=t, m=m, n=n, k=k, b=b, at=at)


@pytest.mark.parametrize("t", ["f16", "bf16"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("sizes", [(5, 7, 9), (130, 97, 260)])
def test_results(t: str, transposed: bool, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    function = loopwright.load(program(t, m, n, k, transposed=transposed))["f"]
    random = np.random.default_rng(5)
    kind = ELEMENTS[t].dtype
    a = stored(random.random((m, k)) - 0.5, kind)
    b = stored(random.random((n, k) if transposed else (k, n)) - 0.5, kind)
    first, second = np.zeros((m, n), "f4"), np.zeros((m, n), "f4")
    function.compile(None)(a, b, first)
    function.compile("default", verify=m < 10)(a, b, second)
    assert np.array_equal(first, second)
    right = numbers(b).astype("f4")
    expected = numbers(a).astype("f4") @ (right.T if transposed else right)
    assert np.allclose(first, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("t", ["f16", "bf16"])
def test_copies_hold_what_is_multiplied(t: str, zen3: Target) -> None:
    function = loopwright.load(program(t, 512, 512, 512))["f"]
    assert str(function.choose_schedule("default", {})).count("widened=true") == 2


def test_other_uses_are_not_widened() -> None:
    text = program("f16", 8, 8, 8).replace("arith.mulf %x, %y", "arith.mulf %x, %x")
    with pytest.raises(loopwright.errors.TransformationError, match="leave out widened=true"):
        loopwright.load(text)["f"].schedule("pack{loops=i array=C widened=true}")
    function = loopwright.load(text)["f"]
    widened = function.schedule("pack{loops=i array=A widened=true}")
    assert "f32" in str(widened.scop.arrays[-1])
