"""Calls of functions that are declared, with effects: barriers, in their order."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_code import build

import loopwright
from loopwright.cli import main
from loopwright.errors import SourceError, TransformationError

LOG: list[Any] = []

POINTER = ctypes.POINTER(ctypes.c_double)


@ctypes.CFUNCTYPE(None, POINTER, ctypes.c_int64, ctypes.c_int64)
def sink(pointer: Any, size: int, position: int) -> None:
    array = np.ctypeslib.as_array(pointer, (size,))
    LOG.append((int(position), array.tolist()))
    array[position] += 100


@ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)
def draw(position: int) -> float:
    LOG.append(int(position))
    return 0.5 * len(LOG)


@ctypes.CFUNCTYPE(None, POINTER, POINTER, ctypes.c_int64)
def total(result: Any, matrix: Any, columns: int) -> None:
    result[0] = np.ctypeslib.as_array(matrix, (3, columns)).sum()


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    for name, function in (("sink", sink), ("draw", draw), ("total_of", total)):
        loopwright.register_function(name, function)
    LOG.clear()
    yield
    LOG.clear()


TEXT = """
func.func private @sink(memref<?xf64>, index)
func.func private @draw(i64) -> f64
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    func.call @sink(%A, %i) : (memref<?xf64>, index) -> ()
    %k = arith.index_cast %i : index to i64
    %d = func.call @draw(%k) : (i64) -> f64
    %s = arith.addf %a, %d : f64
    affine.store %s, %B[%i] : memref<?xf64>
    affine.for %j = 0 to %n {
      %c = affine.load %C[%i, %j] : memref<?x?xf64>
      %e = arith.mulf %c, %s : f64
      affine.store %e, %C[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 0 to %n {
    %k = arith.index_cast %i : index to i64
    %d = func.call @draw(%k) : (i64) -> f64
    %a = affine.load %A[%i] : memref<?xf64>
    %s = arith.subf %a, %d : f64
    affine.store %s, %A[%i] : memref<?xf64>
  }
  return
}
"""


def expected(n: int) -> tuple[list[np.ndarray], list[Any]]:
    """The arrays, and what was called."""
    log: list[Any] = []
    a, b, c = arguments(n)
    for i in range(n):
        before = a[i]
        log.append((i, a.tolist()))
        a[i] += 100
        log.append(i)
        b[i] = before + 0.5 * len(log)
        c[i] *= b[i]
    for i in range(n):
        log.append(i)
        a[i] -= 0.5 * len(log)
    return [a, b, c], log


def arguments(n: int) -> list[np.ndarray]:
    return [np.arange(1.0, n + 1), np.zeros(n), np.arange(1.0, n * n + 1).reshape(n, n)]


STEPS = (
    *("distribute{loops=S0.i}", "distribute{loops=S0.i after=S2}", "reverse{loops=S0.i}"),
    *(
        "parallel{loops=S0.i}",
        "parallel{loops=j}",
        "fuse{loops=S0.i,S4.i}",
        "tile{loops=j sizes=3}",
    ),
    *("vectorize{loops=j width=4}", "tile{loops=S0.i,j sizes=2,2}", "interchange{loops=S0.i,j}"),
    *("unroll{loops=j}", "shift{loops=S4.i by=1}", "strip{loops=S0.i size=2}"),
)


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("seed", range(8))
def test_order_under_schedules(seed: int, n: int) -> None:
    function = loopwright.load(TEXT)["f"]
    schedule = function.schedule("")
    generator = random.Random(seed)
    for step in generator.sample(STEPS, len(STEPS)) if seed else ():
        try:
            schedule = function.schedule(",".join(filter(None, (str(schedule), step))))
        except (SourceError, TransformationError):
            continue
    arrays, log = expected(n)
    for each in (schedule, None, "default"):
        LOG.clear()
        given = arguments(n)
        function.compile(each, threads=2, fast_math=bool(seed % 2))(n, *given)
        assert log == LOG
        for one, other in zip(given, arrays, strict=True):
            np.testing.assert_array_equal(one, other)


def test_calls_are_not_reordered() -> None:
    function = loopwright.load(TEXT)["f"]
    for step in ("reverse{loops=S0.i}", "parallel{loops=S3.i}", "reverse{loops=S3.i}"):
        with pytest.raises(TransformationError):
            function.schedule(step)
    function.schedule("parallel{loops=j}")


INSIDE = """
func.func private @sink(memref<?xf64>, index)
func.func private @total_of(memref<f64>, memref<3x?xf64>)
func.func private @show(%A: memref<?xf64>, %i: index) {
  func.call @sink(%A, %i) : (memref<?xf64>, index) -> ()
  return
}
func.func @f(%n: index, %A: memref<?xf64>, %M: memref<3x4xf64>) {
  %one = arith.constant 1.0 : f64
  affine.for %i = 0 to %n {
    %local = memref.alloc() : memref<2xf64>
    %sum = memref.alloc() : memref<f64>
    %a = affine.load %A[%i] : memref<?xf64>
    affine.store %a, %local[0] : memref<2xf64>
    affine.store %one, %local[1] : memref<2xf64>
    %is = arith.cmpf ogt, %a, %one : f64
    scf.if %is {
      %open = memref.cast %local : memref<2xf64> to memref<?xf64>
      %c0 = arith.constant 0 : index
      func.call @show(%open, %c0) : (memref<?xf64>, index) -> ()
    }
    %matrix = memref.cast %M : memref<3x4xf64> to memref<3x?xf64>
    func.call @total_of(%sum, %matrix) : (memref<f64>, memref<3x?xf64>) -> ()
    %0 = affine.load %sum[] : memref<f64>
    %1 = affine.load %local[0] : memref<2xf64>
    %2 = arith.addf %0, %1 : f64
    affine.store %2, %A[%i] : memref<?xf64>
    affine.store %2, %M[0, 0] : memref<3x4xf64>
    memref.dealloc %local : memref<2xf64>
    memref.dealloc %sum : memref<f64>
  }
  return
}
"""


@pytest.mark.parametrize("schedule", [None, "default"])
def test_local_arrays_and_conditions(schedule: str | None) -> None:
    a, m = np.array([1.0, 2.0, 0.5, 3.0]), np.arange(12.0).reshape(3, 4)
    results, matrix, log = a.copy(), m.copy(), []
    for i, x in enumerate(a):
        if x > 1:
            log.append((0, [x, 1.0]))
        results[i] = matrix[0, 0] = matrix.sum() + x + (100 if x > 1 else 0)
    loopwright.load(INSIDE)["f"].compile(schedule)(4, a, m)
    np.testing.assert_array_equal(a, results)
    np.testing.assert_array_equal(m, matrix)
    assert log == LOG


def test_round_trip_and_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = str(loopwright.load(TEXT)["f"].function)
    assert str(loopwright.load(text)["f"].function) == text
    path = tmp_path / "f.mlir"
    path.write_text(TEXT)
    assert main(["emit", str(path), "--c"]) == 0
    code = capsys.readouterr().out
    assert "extern void sink(double *, int64_t, int64_t);" in code
    own = """
    static int calls;
    void sink(double *a, int64_t n, int64_t i) { a[i] += 100 + 0 * n; calls++; }
    double draw(int64_t i) { return 0.5 * ++calls + 0 * i; }
    """
    library = build("gcc", [f"{code}\n{own}\n"], tmp_path)
    given, (arrays, _) = arguments(4), expected(4)
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in given]
    sizes = [ctypes.c_int64(4)] * 5
    library.f(
        *(sizes[0], sizes[1], pointers[0], sizes[2], pointers[1], sizes[3], sizes[4], pointers[2])
    )
    for one, other in zip(given, arrays, strict=True):
        np.testing.assert_array_equal(one, other)


PART = """
%v = memref.reinterpret_cast %A to offset: [0], sizes: [2, 3], strides: [1, 1]
  : memref<4xf64> to memref<2x3xf64, strided<[1, 1]>>
func.call @part(%v) : (memref<2x3xf64, strided<[1, 1]>>) -> ()
"""

VECTOR = """
%v = arith.constant dense<0.0> : vector<4xf64>
func.call @vector(%v) : (vector<4xf64>) -> ()
"""


@pytest.mark.parametrize(
    ("declared", "call", "message"),
    [
        ("@pair() -> (f64, f64)", "%0, %1 = func.call @pair() : () -> (f64, f64)", "more than one"),
        ("@vector(vector<4xf64>)", VECTOR, "takes a value of type vector<4xf64>"),
        (
            "@part(memref<2x3xf64, strided<[1, 1]>>)",
            PART,
            "a part of a memref is passed on",
        ),
        (
            "@absent(memref<4xf64>)",
            "func.call @absent(%A) : (memref<4xf64>) -> ()",
            "'@absent' is neither of the C mathematics library nor registered",
        ),
    ],
)
def test_refusals(declared: str, call: str, message: str) -> None:
    text = f"""
    func.func private {declared}
    func.func @f(%A: memref<4xf64>) {{
      {call}
      return
    }}"""
    with pytest.raises(SourceError) as caught:
        loopwright.load(text)["f"].compile()(np.zeros(4))
    assert message in str(caught.value)


def test_functions_that_are_inlined_keep_the_order() -> None:
    show = """
    func.func private @draw(i64) -> f64
    func.func @show(%i: index) {
      %k = arith.index_cast %i : index to i64
      %0 = func.call @draw(%k) : (i64) -> f64
      return
    }"""
    alone = str(loopwright.load(show)).removesuffix("}")
    assert "memref.external" in alone
    program = loopwright.load(
        f"""{alone}
          func.func @f(%n: index) {{
            affine.for %i = 0 to %n {{
              func.call @show(%i) : (index) -> ()
              %c9 = arith.constant 9 : index
              func.call @show(%c9) : (index) -> ()
            }}
            return
          }}
        }}"""
    )
    for step in ("distribute{loops=i}", "reverse{loops=i}", "parallel{loops=i}"):
        with pytest.raises(TransformationError):
            program["f"].schedule(step)
    program["f"].compile("default")(3)
    assert LOG == [0, 9, 1, 9, 2, 9]


SHORT = """
func.func private @short_of(i8, i16, i1) -> i8
func.func @f(%A: memref<?xi8>, %B: memref<?xi16>) -> i8 {
  %zero = arith.constant 0 : i16
  %a = affine.load %A[0] : memref<?xi8>
  %b = affine.load %B[0] : memref<?xi16>
  %c = arith.cmpi slt, %b, %zero : i16
  %0 = func.call @short_of(%a, %b, %c) : (i8, i16, i1) -> i8
  return %0 : i8
}
"""


def test_short_integers_are_extended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(SHORT)
    assert main(["emit", str(path), "--llvm"]) == 0
    calls = [line for line in capsys.readouterr().out.splitlines() if "short_of" in line]
    assert calls
    for line in calls:
        assert "i8 signext" in line and "i16 signext" in line and "i1 zeroext" in line


LOCAL = """
func.func private @sink(memref<?xf64>, index)
func.func @f(%n: index, %A: memref<?xf64>) {
  %local = memref.alloc(%n) : memref<?xf64>
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    affine.store %0, %local[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    func.call @sink(%local, %i) : (memref<?xf64>, index) -> ()
  }
  affine.for %i = 0 to %n {
    %1 = affine.load %local[%i] : memref<?xf64>
    affine.store %1, %A[%i] : memref<?xf64>
  }
  return
}
"""


@pytest.mark.parametrize("schedule", [None, "default", "affine-schedule"])
def test_local_arrays_of_an_extent_that_is_a_size(schedule: str | None) -> None:
    a = np.arange(5.0)
    loopwright.load(LOCAL)["f"].compile(schedule)(5, a)
    np.testing.assert_array_equal(a, np.arange(5.0) + 100)
    assert [position for position, _ in LOG] == [0, 1, 2, 3, 4]
