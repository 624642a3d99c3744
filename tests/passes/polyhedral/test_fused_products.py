"""What is fused follows from the program: all schedules give the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.machine_code import MachineCode

from loopwright import load
from loopwright.passes.machine.target import Target

HEADER = "func.func @f(%a: memref<40x40xf64>, %b: memref<40x40xf64>, %c: memref<40x40xf64>) {"
SUMS = {
    "product on the right": ("addf %c, %p", "fma(a, b, c)"),
    "product on the left": ("addf %p, %c", "fma(a, b, c)"),
    "subtracted product": ("subf %c, %p", "fma(-a, b, c)"),
    "subtracted from a product": ("subf %p, %c", "fma(a, b, -c)"),
    "two products": ("addf %q, %p", "fma(a, b, q)"),
}


def _fma(a: Any, b: Any, c: Any) -> Any:
    """Rounded once, from exact products in long double (64 bits hold those of two f32)."""
    exact = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    return exact.astype(np.float32)


@pytest.mark.parametrize("name", SUMS)
def test_one_product_is_fused(name: str) -> None:
    statement, meaning = SUMS[name]
    text = f"""
    func.func @f(%A: memref<64xf32>, %B: memref<64xf32>, %C: memref<64xf32>) {{
      affine.for %i = 0 to 64 {{
        %a = affine.load %A[%i] : memref<64xf32>
        %b = affine.load %B[%i] : memref<64xf32>
        %c = affine.load %C[%i] : memref<64xf32>
        %p = arith.mulf %a, %b : f32
        %q = arith.mulf %c, %c : f32
        %s = arith.{statement} : f32
        affine.store %s, %C[%i] : memref<64xf32>
      }}
      return
    }}"""
    if not Target.host().fuses_multiply_adds:
        pytest.skip("this machine has no fused multiply-adds")
    a, b, c = np.random.default_rng(1).normal(size=(3, 64)).astype(np.float32)
    expected = eval(meaning, {"fma": _fma, "a": a, "b": b, "c": c, "q": c * c})
    MachineCode(text)("f", a, b, c)
    np.testing.assert_array_equal(c, expected)


# Programs whose schedules move products and sums together or apart, and a schedule that does.
PROGRAMS = {
    "through memory": (
        """
        affine.for %i = 0 to 40 { affine.for %j = 0 to 40 {
          %x = affine.load %a[%i, %j] : memref<40x40xf64>
          %p = arith.mulf %x, %x : f64
          affine.store %p, %b[%i, %j] : memref<40x40xf64>
        } }
        affine.for %i = 0 to 40 { affine.for %j = 0 to 40 {
          %p = affine.load %b[%i, %j] : memref<40x40xf64>
          %z = affine.load %c[%i, %j] : memref<40x40xf64>
          %s = arith.addf %p, %z : f64
          affine.store %s, %c[%i, %j] : memref<40x40xf64>
        } }""",
        "fuse{loops=S0.i,S1.i},fuse{loops=S0.j,S1.j},vectorize{loops=j width=4}",
        0,
    ),
    "from a loop further out": (
        """
        affine.for %i = 0 to 40 {
          %x = affine.load %a[%i, 3] : memref<40x40xf64>
          %p = arith.mulf %x, %x : f64
          affine.for %j = 0 to 40 {
            %z = affine.load %c[%i, %j] : memref<40x40xf64>
            %s = arith.addf %p, %z : f64
            affine.store %s, %c[%i, %j] : memref<40x40xf64>
          }
        }""",
        "interchange{loops=i,j},vectorize{loops=i width=4}",
        0,
    ),
    "from outside of a branch on data": (
        """
        affine.for %i = 0 to 40 { affine.for %j = 0 to 40 {
          %x = affine.load %a[%i, %j] : memref<40x40xf64>
          %y = affine.load %b[%i, %j] : memref<40x40xf64>
          %p = arith.mulf %x, %x : f64
          %t = arith.cmpf ogt, %x, %y : f64
          %s = scf.if %t -> (f64) {
            %s1 = arith.addf %p, %y : f64
            scf.yield %s1 : f64
          } else {
            scf.yield %x : f64
          }
          affine.store %s, %c[%i, %j] : memref<40x40xf64>
        } }""",
        "vectorize{loops=j width=4}",
        0,
    ),
    "of a branch and from outside of it": (
        """
        affine.for %i = 0 to 40 { affine.for %j = 0 to 40 {
          %x = affine.load %a[%i, %j] : memref<40x40xf64>
          %y = affine.load %b[%i, %j] : memref<40x40xf64>
          %p = arith.mulf %x, %x : f64
          %t = arith.cmpf ogt, %x, %y : f64
          %s = scf.if %t -> (f64) {
            %q = arith.mulf %x, %y : f64
            %s1 = arith.addf %q, %p : f64
            scf.yield %s1 : f64
          } else {
            scf.yield %x : f64
          }
          affine.store %s, %c[%i, %j] : memref<40x40xf64>
        } }""",
        "vectorize{loops=j width=4}",
        1,
    ),
    "by its left operand, and a product through memory": (
        """
        affine.for %i = 0 to 40 { affine.for %j = 0 to 40 {
          %x = affine.load %a[%i, %j] : memref<40x40xf64>
          %y = affine.load %b[%i, %j] : memref<40x40xf64>
          %p = arith.mulf %x, %x : f64
          affine.store %p, %c[%i, %j] : memref<40x40xf64>
          %z = affine.load %c[%i, %j] : memref<40x40xf64>
          %q = arith.mulf %x, %y : f64
          %s = arith.addf %q, %z : f64
          affine.store %s, %c[%i, %j] : memref<40x40xf64>
        } }""",
        "vectorize{loops=j width=4}",
        1,
    ),
    "the same in all lanes": (
        """
        affine.for %i = 0 to 40 { affine.for %j = 0 to 40 {
          %x = affine.load %a[%i, 3] : memref<40x40xf64>
          %p = arith.mulf %x, %x : f64
          %z = affine.load %c[%i, %j] : memref<40x40xf64>
          %s = arith.addf %p, %z : f64
          affine.store %s, %c[%i, %j] : memref<40x40xf64>
        } }""",
        "vectorize{loops=j width=4}",
        1,
    ),
    "a running sum": (
        """
        affine.for %i = 0 to 40 { affine.for %j = 0 to 40 {
          affine.for %k = 0 to 40 {
            %x = affine.load %a[%i, %k] : memref<40x40xf64>
            %y = affine.load %b[%k, %j] : memref<40x40xf64>
            %z = affine.load %c[%i, %j] : memref<40x40xf64>
            %p = arith.mulf %x, %y : f64
            %s = arith.addf %z, %p : f64
            affine.store %s, %c[%i, %j] : memref<40x40xf64>
          }
        } }""",
        "interchange{loops=j,k},vectorize{loops=j width=4}",
        1,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_schedules_keep_what_is_fused(name: str) -> None:
    body, schedule, fused = PROGRAMS[name]
    function = load(f"{HEADER}{body}\nreturn }}")["f"]
    results: list[Any] = []
    for each in (None, schedule, "default"):
        arrays = list(np.random.default_rng(2).normal(size=(3, 40, 40)))
        kernel = function.compile(each, threads=1)
        kernel(*arrays)
        results.append(arrays)
        if Target.host().fuses_multiply_adds and each != "default":
            calls = [line for line in kernel.llvm_ir.splitlines() if "call" in line]
            assert sum("llvm.fma" in line for line in calls) >= fused
            assert any("llvm.fma" in line for line in calls) == bool(fused)
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])


@pytest.mark.parametrize("sum_of", ["addf %x, %y", "addf %q, %x", "subf %q, %x", "addf %x, %q"])
def test_products_of_a_caller_are_not_fused_with_sums_of_the_callee(sum_of: str) -> None:
    text = f"""
    func.func @add(%x: f64, %y: f64) -> f64 {{
      %q = arith.mulf %x, %y : f64
      %s = arith.{sum_of} : f64
      return %s : f64
    }}"""
    text += """
    func.func @f(%a: memref<40xf64>, %b: memref<40xf64>) {
      affine.for %i = 0 to 40 {
        %x = affine.load %a[%i] : memref<40xf64>
        %y = affine.load %b[%i] : memref<40xf64>
        %p = arith.mulf %x, %x : f64
        %s = func.call @add(%p, %y) : (f64, f64) -> f64
        affine.store %s, %b[%i] : memref<40xf64>
      }
      return
    }"""
    results: list[Any] = []
    for schedule in (None, "vectorize{loops=i width=4}"):
        a, b = np.random.default_rng(3).normal(size=(2, 40))
        load(text)["f"].compile(schedule, threads=1)(a, b)
        results.append(b)
    np.testing.assert_array_equal(results[1], results[0])


def test_nothing_is_fused_where_it_is_no_instruction() -> None:
    body = PROGRAMS["a running sum"][0]
    function = load(f"{HEADER}{body}\nreturn }}")["f"]
    assert "llvm.fma" not in function.compile(None, target=Target.named("generic-sse2")).llvm_ir
    assert "llvm.fma" in function.compile(None, target=Target.named("generic-avx2")).llvm_ir


def test_a_licence_of_the_operation_leaves_it_to_llvm() -> None:
    body = PROGRAMS["a running sum"][0].replace("%z, %p : f64", "%z, %p fastmath<contract> : f64")
    function = load(f"{HEADER}{body}\nreturn }}")["f"]
    assert "llvm.fma" not in function.compile(None).llvm_ir


def test_what_parallel_loops_yield_is_not_fused() -> None:
    """As the loops are written, their sum is no operation of the program."""
    text = """
    func.func @f(%n: index, %A: memref<?xf64>, %s: f64) {
      %r = affine.parallel (%i) = (0) to (%n) reduce ("addf") -> (f64) {
        %a = affine.load %A[%i] : memref<?xf64>
        %p = arith.mulf %a, %s : f64
        affine.yield %p : f64
      }
      affine.store %r, %A[0] : memref<?xf64>
      return
    }"""
    (function,) = load(text).values()
    values = np.random.default_rng(1).normal(size=64)
    found: list[float] = []
    for schedule in (None, "", "unroll{loops=i factor=4}"):
        array = values.copy()
        function.compile(schedule)(64, array, 1.37)
        found.append(array[0])
    assert found[0] == found[1] == found[2]
