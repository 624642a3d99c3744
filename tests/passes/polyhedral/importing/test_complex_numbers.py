"""Complex numbers: NumPy's results for each operation, and wherever values are handed on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.errors import ArgumentTypeError, ArgumentValueError, SourceError

TYPES = {"f32": np.complex64, "f64": np.complex128}

OPERATION = """
func.func @f(%A: memref<?xcomplex<{t}>>, %B: memref<?xcomplex<{t}>>, %C: memref<?x{result}>) {{
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xcomplex<{t}>>
  affine.for %i = 0 to %n {{
    %a = affine.load %A[%i] : memref<?xcomplex<{t}>>
    %b = affine.load %B[%i] : memref<?xcomplex<{t}>>
    %c = {operation}
    affine.store %c, %C[%i] : memref<?x{result}>
  }}
  return
}}
"""

BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
UNARY = {"neg": np.negative, "conj": np.conjugate, "exp": np.exp}
REAL = {"abs": np.abs, "angle": np.angle, "re": np.real, "im": np.imag}
TESTS = {"eq": np.equal, "neq": np.not_equal}

ALL: dict[str, tuple[str, Any]] = {
    **{name: (f"complex.{name} %a, %b : complex<{{t}}>", f) for name, f in BINARY.items()},
    **{name: (f"complex.{name} %a : complex<{{t}}>", f) for name, f in UNARY.items()},
    **{name: (f"complex.{name} %a : complex<{{t}}>", f) for name, f in REAL.items()},
    **{name: (f"complex.{name} %a, %b : complex<{{t}}>", f) for name, f in TESTS.items()},
}

CONTROL = """
func.func private @step(%x: complex<f64>, %y: complex<f64>) -> complex<f64> {
  %0 = complex.mul %x, %y : complex<f64>
  return %0 : complex<f64>
}
func.func @f(%n: index, %w: complex<f64>, %x: f64, %A: memref<?xcomplex<f64>>)
    -> (complex<f64>, i64, complex<f64>) {
  %one = complex.constant [1.0 : f64, 0.0 : f64] : complex<f64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %cell = memref.alloca() : memref<2xcomplex<f64>>
  %last, %count, %product = scf.for %i = %c0 to %n step %c1
      iter_args(%s = %w, %k = %zero, %p = %one) -> (complex<f64>, i64, complex<f64>) {
    %a = memref.load %A[%i] : memref<?xcomplex<f64>>
    %re = complex.re %a : complex<f64>
    %large = arith.cmpf ogt, %re, %x : f64
    %t, %m = scf.if %large -> (complex<f64>, i64) {
      %d = complex.div %a, %s : complex<f64>
      scf.yield %d, %zero : complex<f64>, i64
    } else {
      %one64 = arith.constant 1 : i64
      scf.yield %a, %one64 : complex<f64>, i64
    }
    %u = arith.select %large, %s, %t : complex<f64>
    memref.store %u, %cell[%c1] : memref<2xcomplex<f64>>
    %v = memref.load %cell[%c1] : memref<2xcomplex<f64>>
    memref.store %v, %A[%i] : memref<?xcomplex<f64>>
    %k2 = arith.addi %k, %m : i64
    %q = func.call @step(%p, %t) : (complex<f64>, complex<f64>) -> complex<f64>
    scf.yield %t, %k2, %q : complex<f64>, i64, complex<f64>
  }
  return %last, %count, %product : complex<f64>, i64, complex<f64>
}
"""

WHILE = """
func.func @f(%n: index, %A: memref<?xcomplex<f32>>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xcomplex<f32>>
    %r = scf.while (%z = %a) : (complex<f32>) -> complex<f32> {
      %size = complex.abs %z : complex<f32>
      %two = arith.constant 2.0 : f32
      %go = arith.cmpf olt, %size, %two : f32
      scf.condition(%go) %z : complex<f32>
    } do {
    ^bb0(%z: complex<f32>):
      %s = complex.mul %z, %z : complex<f32>
      %t = complex.add %s, %a : complex<f32>
      %u = complex.add %t, %a : complex<f32>
      scf.yield %u : complex<f32>
    }
    affine.store %r, %A[%i] : memref<?xcomplex<f32>>
  }
  return
}
"""


def numbers(kind: Any, count: int, *, special: bool = False) -> np.ndarray:
    random = np.random.default_rng(count)
    size = 10.0 ** random.integers(-2, 3, count)
    values = size * (random.normal(size=count) + 1j * random.normal(size=count))
    if special:
        values[: count // 4] = random.choice([0, 1, -1, 2j, -2.5j, 3, 1 + 1j], count // 4)
    return values.astype(kind)


@pytest.mark.parametrize("part", TYPES)
@pytest.mark.parametrize("name", ALL)
def test_operations(name: str, part: str) -> None:
    operation, function = ALL[name]
    results = {**dict.fromkeys(REAL, part), **dict.fromkeys(TESTS, "i1")}
    result = results.get(name, f"complex<{part}>")
    text = OPERATION.format(t=part, result=result, operation=operation.format(t=part))
    one, other = numbers(TYPES[part], 203, special=True), numbers(TYPES[part], 204, special=True)
    other = other[:203].copy()
    if name in TESTS:
        other[::3] = one[::3]
    if name == "exp":
        one *= 0.1
    with np.errstate(all="ignore"):
        expected = np.asarray(
            function(one, other) if name in {**BINARY, **TESTS} else function(one)
        )
    program = loopwright.load(text)["f"]
    for schedule in (None, "default", "vectorize{loops=i width=8}"):
        actual = np.zeros(203, expected.dtype)
        program.compile(schedule=schedule, threads=1)(one, other, actual)
        tolerance = 4e-7 if part == "f32" else 1e-15
        size = tolerance * np.maximum(np.abs(one), 1) * np.maximum(np.abs(other), 1)
        finite = np.isfinite(expected)
        assert np.array_equal(np.isfinite(actual), finite)
        with np.errstate(invalid="ignore"):
            difference = actual != expected if name in TESTS else np.abs(actual - expected)
        allowed = 4 * tolerance * np.abs(expected)
        if name in ("mul", "sub", "add"):
            allowed = allowed + 4 * size
        close = difference <= allowed
        assert np.all(close[finite]), (one[finite & ~close], other[finite & ~close])


def test_large_and_small_numbers() -> None:
    values = np.array([3e200 + 4e200j, 3e-200 - 4e-200j, np.inf + 1j, np.nan + np.inf * 1j, 0])
    values[3] = complex(np.nan, np.inf)
    text = OPERATION.format(t="f64", result="f64", operation="complex.abs %a : complex<f64>")
    sizes = np.zeros(5)
    loopwright.load(text)["f"].compile(schedule=None)(values, values, sizes)
    assert np.allclose(sizes, [5e200, 5e-200, np.inf, np.inf, 0.0], rtol=1e-15, atol=0)
    text = OPERATION.format(
        t="f64", result="complex<f64>", operation="complex.div %a, %b : complex<f64>"
    )
    quotients = np.zeros(2, complex)
    divisors = np.array([1e200 + 1e200j, 0])
    loopwright.load(text)["f"].compile(schedule=None)(values[:2].copy(), divisors, quotients)
    assert np.isclose(quotients[0], 3.5 + 0.5j, rtol=1e-15)
    with np.errstate(all="ignore"):
        assert np.array_equal(quotients[1], values[1] / divisors[1])


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize("n", [0, 1, 9])
def test_numbers_are_handed_on(n: int, schedule: str | None) -> None:
    values = numbers(complex, n + 1)[:n]
    last, count, product, expected = 0.5 - 1j, 0, 1.0 + 0j, values.copy()
    for i in range(n):
        before, a = last, values[i]
        large = a.real > 0.25
        last = a / before if large else a
        count += not large
        expected[i] = before if large else last
        product *= last
    kernel = loopwright.load(CONTROL)["f"].compile(schedule=schedule, threads=2)
    found = kernel(n, 0.5 - 1j, 0.25, values)
    assert np.allclose(values, expected, rtol=1e-12)
    assert np.allclose(found[0], last) and found[1] == count and np.allclose(found[2], product)
    assert str(kernel.signature) == (
        "f(n: index, w: complex<f64>, x: f64, A: memref<?xcomplex<f64>>) "
        "-> complex<f64>, i64, complex<f64>"
    )


def test_while_loops() -> None:
    values = np.array([0.3 + 0.4j, 2.5 + 0j, -0.1 + 1.2j], np.complex64)
    expected = values.copy()
    for i, a in enumerate(values):
        z = a
        while abs(z) < 2:
            z = z * z + a + a
        expected[i] = z
    loopwright.load(WHILE)["f"].compile()(3, values)
    assert np.allclose(values, expected, rtol=1e-5)


def test_linalg_on_complex_memrefs() -> None:
    text = """
    func.func @f(%A: memref<?x?xcomplex<f64>>, %B: memref<?x?xcomplex<f64>>,
                 %C: memref<?x?xcomplex<f64>>) {
      linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
          affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%A, %B : memref<?x?xcomplex<f64>>, memref<?x?xcomplex<f64>>)
          outs(%C : memref<?x?xcomplex<f64>>) {
      ^bb0(%a: complex<f64>, %b: complex<f64>, %c: complex<f64>):
        %p = complex.mul %a, %b : complex<f64>
        %s = complex.add %c, %p : complex<f64>
        linalg.yield %s : complex<f64>
      }
      return
    }"""
    one, other = numbers(complex, 35).reshape(5, 7), numbers(complex, 21).reshape(7, 3)
    result = np.zeros((5, 3), complex)
    loopwright.load(text)["f"].compile(threads=1)(one, other, result)
    assert np.allclose(result, one @ other, rtol=1e-12)


def test_arguments() -> None:
    text = OPERATION.format(
        t="f64", result="complex<f64>", operation="complex.add %a, %b : complex<f64>"
    )
    kernel = loopwright.load(text)["f"].compile()
    one, result = numbers(complex, 4), np.zeros(4, complex)
    parts = np.ascontiguousarray(one).view(float).reshape(4, 2)
    kernel(one, parts, result)
    assert np.array_equal(result, one + one)
    with pytest.raises(ArgumentTypeError, match="expected elements of type complex128, got float"):
        kernel(one, one.real.copy(), result)
    with pytest.raises(ArgumentTypeError, match="got complex64"):
        kernel(one, one.astype(np.complex64), result)
    with pytest.raises(ArgumentTypeError, match=r"expected 1 dimensions, got 2"):
        kernel(one, one.reshape(2, 2), result)
    with pytest.raises(ArgumentValueError, match="not contiguous"):
        kernel(one, np.repeat(one, 2)[::2], result)
    scaled = loopwright.load(CONTROL)["f"].compile()
    with pytest.raises(ArgumentTypeError, match="argument 2 'w': expected a complex number"):
        scaled(4, "1", 0.0, one)
    scaled(4, 1, 0.0, one)


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    text = OPERATION.format(
        t="f32", result="complex<f32>", operation="complex.mul %a, %b : complex<f32>"
    )
    kernel = loopwright.load(text)["f"].compile()
    one = torch.randn(8, dtype=torch.complex64)
    for _ in range(2):
        result = torch.zeros(8, dtype=torch.complex64)
        kernel(one, one, result)
        assert torch.allclose(result, one * one)
        with pytest.raises(ArgumentValueError, match="lazily conjugated"):
            kernel(one, one.conj(), result)


@pytest.mark.parametrize(
    ("part", "operation", "message"),
    [
        ("f64", "complex.sqrt %a : complex<f64>", "'complex.sqrt' on complex numbers is not supp"),
        ("f16", "complex.add %a, %b : complex<f16>", "complex<f16>>: its parts are not supported"),
    ],
)
def test_refusals(part: str, operation: str, message: str) -> None:
    text = OPERATION.format(t=part, result=f"complex<{part}>", operation=operation)
    with pytest.raises(SourceError, match=message):
        loopwright.load(text)["f"].compile()
