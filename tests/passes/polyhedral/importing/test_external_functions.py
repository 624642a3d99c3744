"""Functions that a program declares pure are operations of statements, under every schedule."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build
from support.random_python import load_source

import loopwright
from loopwright.cli import main
from loopwright.errors import SourceError

TEXT = """
func.func private @tgamma(f64) -> f64 attributes {llvm.readnone}
func.func private @weight(i64, f32) -> f64 attributes {llvm.readnone}
func.func @f(%n: index, %A: memref<?x?xf64>, %k: memref<?xi64>, %w: memref<?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = func.call @tgamma(%0) : (f64) -> f64
      %2 = affine.load %k[%j] : memref<?xi64>
      %3 = affine.load %w[%i] : memref<?xf32>
      %4 = func.call @weight(%2, %3) : (i64, f32) -> f64
      %5 = arith.addf %1, %4 : f64
      affine.store %5, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

SCHEDULES = (
    None,
    "default",
    "vectorize{loops=j width=4}",
    "interchange{loops=i,j},vectorize{loops=i width=8},parallel{loops=j}",
    "tile{loops=i,j sizes=3,4},parallel{loops=it},unroll{loops=j}",
    "pack{loops=i array=A}",
)


def weight(k: int, w: float) -> float:
    return k * 0.5 - w


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_float)
    loopwright.register_function("weight", kind(weight))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(schedule: str | None) -> None:
    function = loopwright.load(TEXT)["f"]
    assert not function.scop.opaque_statements
    generator = np.random.default_rng(3)
    for n in (1, 7, 12):
        a = generator.integers(1, 9, (n, n)).astype("f8")
        k, w = generator.integers(-4, 9, n), generator.integers(0, 9, n).astype("f4")
        expected = [[math.gamma(a[i, j]) + weight(k[j], w[i]) for j in range(n)] for i in range(n)]
        kernel = function.compile(schedule, threads=1, verify=True)
        kernel(n, a, k, w)
        np.testing.assert_array_equal(a, expected)


def test_round_trip() -> None:
    text = str(loopwright.load(TEXT)["f"].function)
    assert 'math.external "weight"(' in text
    assert str(loopwright.load(text)["f"].function) == text


def test_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(TEXT.replace("@weight", "@own_weight"))
    assert main(["emit", str(path), "--c"]) == 0
    code = capsys.readouterr().out
    assert "extern double own_weight(int64_t, float) __attribute__((const));" in code
    own = "double own_weight(int64_t k, float w) { return k * 0.5 - w; }"
    library = build("gcc", [f"{code}\n{own}\n"], tmp_path)
    assert library.f is not None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "@weight",
            "@nothing",
            "'@nothing' is neither of the C mathematics library nor registered",
        ),
        ("@weight", "@getpid", "'@getpid' is neither of the C mathematics library nor registered"),
        ("(i64, f32) -> f64 attr", "(i8, f32) -> f64 attr", "i8"),
    ],
)
def test_mistakes(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        loopwright.load(TEXT.replace(old, new))["f"].compile()(
            2, np.ones((2, 2)), np.ones(2, "i8"), np.ones(2, "f4")
        )
    assert message in str(caught.value)
    assert ":" in str(caught.value).splitlines()[0]


C = """
#include <math.h>
double weight(long k, float w) __attribute__((const));
double plain(double);
void f(int n, double A[n][n], long k[n], float w[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = tgamma(A[i][j]) + weight(k[j], w[i]);
#pragma endscop
}
"""


def test_c_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.c"
    path.write_text(C)
    n = 9
    a, k, w = np.full((n, n), 3.0), np.arange(n), np.ones(n, "f4")
    loopwright.load(path)["f"].compile("default")(n, a, k, w)
    np.testing.assert_array_equal(a, 2.0 + k * 0.5 - np.ones((n, 1)))
    path.write_text(C.replace("weight(k[j], w[i])", "plain(w[i])"))
    assert main(["deps", str(path)]) == 1
    message = capsys.readouterr().err
    assert "f.c:9:35: error: the call of 'plain' cannot be analysed" in message
    path.write_text(C.replace("(long k,", "(char k,"))
    assert main(["deps", str(path)]) == 1
    assert "declared const: it must take numbers" in capsys.readouterr().err


native = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_float)(weight)
loopwright.register_function("native_weight", native)


@loopwright.kernel
def weighted(n: int, v: loopwright.f64["n"], w: loopwright.f32["n"]):
    for i in range(n):
        v[i] = native(i, w[i]) * v[i]


WRONG = """
import loopwright
import ctypes

native = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_float)(lambda k, w: 0.0)
loopwright.register_function("wrong_weight", native)

@loopwright.kernel
def wrong(n: int, v: loopwright.f64["n"]):
    for i in range(n):
        v[i] = native({call})
"""


def test_python(tmp_path: Path) -> None:
    v, w = np.arange(9.0), np.arange(9, dtype="f4")
    weighted.compile("rules")(9, v, w)
    np.testing.assert_array_equal(v, [weight(i, i) * i for i in range(9)])
    for call, message in (("i", "takes 2 arguments, not 1"), ("v[i], 1.0", "takes an integer")):
        with pytest.raises(SourceError, match=message):
            load_source(WRONG.format(call=call), tmp_path, "wrong")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        *(("sin", 1), ("hypotf", 1), ("a b", 1), ("f", "x"), ("f", 0), ("f", True)),
        *(("free", 1), ("GOMP_parallel", 1), ("loopwright_f", 1)),
    ],
)
def test_what_cannot_be_registered(name: str, function: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        loopwright.register_function(name, function)


@pytest.mark.parametrize(
    ("name", "kinds", "expected"),
    [
        ("tgamma", ("f32", "f32"), r"'@tgamma' as \(f64\) -> f64"),
        ("hypotf", ("f64", "f64"), r"'@hypotf' as \(f32, f32\) -> f32"),
        ("j0", ("f64", "f32"), r"'@j0' as \(f64\) -> f64"),
    ],
)
def test_functions_of_the_library_have_its_types(
    name: str, kinds: tuple[str, str], expected: str
) -> None:
    argument, result = kinds
    text = f"""
    func.func private @{name}({argument}) -> {result} attributes {{llvm.readnone}}
    func.func @f(%A: memref<4x{argument}>, %B: memref<4x{result}>) {{
      affine.for %i = 0 to 4 {{
        %0 = affine.load %A[%i] : memref<4x{argument}>
        %1 = func.call @{name}(%0) : ({argument}) -> {result}
        affine.store %1, %B[%i] : memref<4x{result}>
      }}
      return
    }}
    """
    kind = {"f32": np.float32, "f64": np.float64}
    a, b = np.ones(4, kind[argument]), np.ones(4, kind[result])
    with pytest.raises(SourceError, match=expected):
        loopwright.load(text)["f"].compile()(a, b)
