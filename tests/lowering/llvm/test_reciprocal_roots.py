"""Infinities, zeros and NaN keep their meaning where roots and powers are approximated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES, MachineCode

from loopwright import load
from loopwright.passes.machine.target import Target

BODIES = {
    "1 / sqrt(x)": ("%s = math.sqrt %x : T\n%r = arith.divf %one, %s : T", -0.5),
    "rsqrt": ("%r = math.rsqrt %x : T", -0.5),
    "pow(x, -0.5)": ("%e = arith.constant -0.5 : T\n%r = math.powf %x, %e : T", -0.5),
    "pow(x, -1.5)": ("%e = arith.constant -1.5 : T\n%r = math.powf %x, %e : T", -1.5),
    **{
        f"pow(x, {e})": (f"%e = arith.constant {e} : T\n%r = math.powf %x, %e : T", e)
        for e in (0.25, 0.75, 1.25, -0.25, -0.75, -1.25)
    },
    "1 / (x sqrt(x))": (
        "%s = math.sqrt %x : T\n%p = arith.mulf %s, %x : T\n%r = arith.divf %one, %p : T",
        -1.5,
    ),
    "1 / (1 sqrt(x))": (
        "%s = math.sqrt %x : T\n%p = arith.mulf %s, %y : T\n%r = arith.divf %one, %p : T",
        -0.5,
    ),
    "1 / (x (1 sqrt(x)))": (
        "%s = math.sqrt %x : T\n%p = arith.mulf %y, %s : T\n%q = arith.mulf %x, %p : T\n"
        "%r = arith.divf %one, %q : T",
        -1.5,
    ),
}
"""What computes a power of x, and its exponent; y is one."""

UNDERFLOWING = ("pow(x, -1.5)", "pow(x, 1.25)", "1 / (x sqrt(x))", "1 / (x (1 sqrt(x)))")
"""What multiplies a number by its root."""

SCHEDULES = ("", "vectorize{loops=i width=4}", "vectorize{loops=i width=8}", "default")


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("target", [None, "generic-avx2", "generic-sse2"])
def test_special_values_under_fast_math(body: str, element: str, target: str | None) -> None:
    code, exponent = BODIES[body]
    memref = f"memref<64x{element}>"
    function = load(f"""func.func @f(%a: {memref}, %b: {memref}, %c: {memref}) {{
      %one = arith.constant 1.0 : {element}
      affine.for %i = 0 to 64 {{
        %x = affine.load %a[%i] : {memref}
        %y = affine.load %b[%i] : {memref}
        {code.replace(": T", f": {element}")}
        affine.store %r, %c[%i] : {memref} }}
      return }}""")["f"]
    kind: Any = NUMPY_TYPES[element]
    a = np.random.default_rng(1).uniform(1e-3, 1e3, 64).astype(kind)
    a[:5] = 0, np.inf, np.nan, -1, 1e20
    a[-3:] = np.inf, 0, 1e-20
    least = np.finfo(kind).smallest_subnormal
    machine = Target.host() if target is None else Target.named(target)
    # Without AVX-512, subnormal numbers in f32 count as zeros.
    if body not in UNDERFLOWING and (element == "f64" or machine.vector_bits == 512):
        a[5:8] = a[-6:-3] = least, 100 * least, 1e5 * least
    with np.errstate(all="ignore"):
        expected = np.power(a.astype("f8"), exponent).astype(kind)
    for schedule in SCHEDULES:
        c = np.zeros_like(a)
        kernel = function.compile(schedule, threads=1, fast_math=True, target=machine)
        kernel(a, np.ones_like(a), c)
        tolerance = 2e-6 if element == "f32" else 1e-14
        np.testing.assert_allclose(c, expected, rtol=tolerance, err_msg=schedule)


@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize(
    ("base", "exponents"),
    [
        (-np.inf, [-1.5, -0.75, -0.5, 0.25, 0.5, 0.75, 1.5, 2.25]),
        (-0.0, [-0.25, -0.5]),
    ],
)
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_powers_of_special_values(
    base: float, exponents: list[float], element: str, fast_math: bool
) -> None:
    for exponent in exponents:
        function = load(f"""func.func @f(%a: memref<21x{element}>) {{
          %e = arith.constant {exponent} : {element}
          affine.for %i = 0 to 21 {{
            %x = affine.load %a[%i] : memref<21x{element}>
            %r = math.powf %x, %e : {element}
            affine.store %r, %a[%i] : memref<21x{element}> }}
          return }}""")["f"]
        a = np.full(21, base, NUMPY_TYPES[element])
        function.compile("default", fast_math=fast_math)(a)
        is_zero = base < 0 and exponent < 0
        assert (a == (0 if is_zero else np.inf)).all(), exponent


@pytest.mark.parametrize("exponent", [0.75, -0.75, 2.25])
def test_quarters_are_square_roots(exponent: float) -> None:
    function = load(f"""func.func @f(%a: memref<64xf32>) {{
      %e = arith.constant {exponent} : f32
      affine.for %i = 0 to 64 {{
        %x = affine.load %a[%i] : memref<64xf32>
        %r = math.powf %x, %e : f32
        affine.store %r, %a[%i] : memref<64xf32> }}
      return }}""")["f"]
    roots = [
        function.compile("vectorize{loops=i width=8}", fast_math=fast).llvm_ir.count("llvm.sqrt")
        for fast in (False, True)
    ]
    assert roots[0] == 0
    assert roots[1] >= 2


ROWS = """
func.func @f(%n: index, %m: index, %x: memref<?xf64>, %z: memref<?x?xf64>) {
  %one = arith.constant 1.0 : f64
  affine.for %i = 0 to %n {
    %w = memref.alloca() : memref<4xf64>
    affine.for %l = 0 to 4 {
      %a = affine.load %x[4 * %i + %l] : memref<?xf64>
      %q = arith.divf %one, %a : f64
      affine.store %q, %w[%l] : memref<4xf64>
    }
    affine.for %k = 0 to %m {
      affine.for %l = 0 to 4 {
        %a = affine.load %w[%l] : memref<4xf64>
        %b = affine.load %z[4 * %i + %l, %k] : memref<?x?xf64>
        %c = arith.mulf %a, %b : f64
        affine.store %c, %z[4 * %i + %l, %k] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("vectorise", [None, False])
def test_quotients_stay_outside_of_loops_over_products(vectorise: bool | None) -> None:
    code = MachineCode(ROWS, fast_math=True, vectorise=vectorise)
    rng = np.random.default_rng(4)
    x, z = rng.random(40) + 0.5, rng.random((40, 200))
    expected = (1 / x)[:, None] * z
    code("f", 10, 200, x, z)
    np.testing.assert_array_equal(z, expected)
