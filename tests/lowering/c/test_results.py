"""What printed C computes: every operation, and the shapes of control flow and memory."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_code import CCode, compilers
from support.elementwise import Elementwise
from support.machine_code import NUMPY_TYPES, MachineCode

WIDTHS = (8, 16, 32, 64)
INTEGER_OPERATIONS = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"),
    *("ceildivui", "minsi", "maxsi", "minui", "maxui", "shli", "shrsi", "shrui"),
    *("andi", "ori", "xori"),
)
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
MATHEMATICS = (
    *("acosh", "asinh", "atanh"),
    *("absf", "acos", "asin", "atan", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2"),
    *("expm1", "floor", "log", "log10", "log1p", "log2", "round", "roundeven", "rsqrt"),
    *("sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)


def integers(width: int) -> list[Elementwise]:
    kind = f"i{width}"
    found = [
        Elementwise(f"{name}_{kind}", f"arith.{name} {{0}}, {{1}} : {kind}", (kind, kind), (kind,))
        for name in INTEGER_OPERATIONS
    ]
    found += [
        Elementwise(f"{p}_{kind}", f"arith.cmpi {p}, {{0}}, {{1}} : {kind}", (kind, kind), ("i1",))
        for p in PREDICATES
    ]
    found += [
        Elementwise(f"{name}_{kind}", f"math.{name} {{0}} : {kind}", (kind,), (kind,))
        for name in ("absi", "ctpop", "ctlz", "cttz")
    ]
    found.append(
        Elementwise(f"ipowi_{kind}", f"math.ipowi {{0}}, {{1}} : {kind}", (kind, kind), (kind,))
    )
    for other in (1, *WIDTHS):
        for name in ("extsi", "extui") if other > width else ("trunci",):
            if other != width:
                text = f"arith.{name} {{0}} : {kind} to i{other}"
                found.append(Elementwise(f"{name}_{kind}_i{other}", text, (kind,), (f"i{other}",)))
        if other == 1:
            for name in ("extsi", "extui"):
                text = f"arith.{name} {{0}} : i1 to {kind}"
                found.append(Elementwise(f"{name}_i1_{kind}", text, ("i1",), (kind,)))
    return found


def floats(kind: str) -> list[Elementwise]:
    two = (kind, kind)
    found = [
        Elementwise(f"{name}_{kind}", f"arith.{name} {{0}}, {{1}} : {kind}", two, (kind,))
        for name in ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf")
    ]
    found += [
        Elementwise(f"{p}_{kind}", f"arith.cmpf {p}, {{0}}, {{1}} : {kind}", two, ("i1",))
        for p in FLOAT_PREDICATES
    ]
    found += [
        Elementwise(f"{name}_{kind}", f"math.{name} {{0}} : {kind}", (kind,), (kind,))
        for name in MATHEMATICS
    ]
    found += [
        Elementwise(f"{name}_{kind}", f"math.{name} {{0}}, {{1}} : {kind}", two, (kind,))
        for name in ("atan2", "copysign", "powf")
    ]
    for number in ("i8", "i32", "i64"):
        for name in ("sitofp", "uitofp"):
            text = f"arith.{name} {{0}} : {number} to {kind}"
            found.append(Elementwise(f"{name}_{number}_{kind}", text, (number,), (kind,)))
    return found


def values(kind: str) -> np.ndarray[Any, Any]:
    """Ordinary and extreme values."""
    if kind == "i1":
        return np.array([False, True])
    if kind.startswith("f"):
        special = [0.0, -0.0, 1.0, -1.5, 2.5, 0.3, 1e-3, 40.0, np.inf, -np.inf, np.nan]
        return np.array(special, NUMPY_TYPES[kind])
    low, high = -(1 << int(kind[1:]) - 1), (1 << int(kind[1:]) - 1) - 1
    return np.array([0, 1, -1, 2, -2, 3, 7, -7, 100, low, low + 1, high], NUMPY_TYPES[kind])


def pairs(operation: Elementwise) -> list[np.ndarray[Any, Any]]:
    """Every combination of values of the operands."""
    combinations = list(itertools.product(*(values(kind) for kind in operation.operands)))
    return [
        np.array([c[n] for c in combinations], NUMPY_TYPES[kind])
        for n, kind in enumerate(operation.operands)
    ]


@pytest.mark.parametrize("compiler", compilers())
def test_every_operation_computes_the_same_as_our_own_code(tmp_path: Path, compiler: str) -> None:
    operations = [op for width in WIDTHS for op in integers(width)]
    operations += [*floats("f32"), *floats("f64")]
    inputs = {operation.name: pairs(operation) for operation in operations}
    text = "\n".join(op.function(op.name, len(inputs[op.name][0])) for op in operations)
    ours = MachineCode(text, vectorise=False)
    c = CCode(text, tmp_path, compiler, "-ffp-contract=off")
    for operation in operations:
        given = inputs[operation.name]
        results = [
            [np.zeros(len(given[0]), NUMPY_TYPES[kind]) for kind in operation.results]
            for _ in range(2)
        ]
        for code, outputs in zip((ours, c), results, strict=True):
            code(operation.name, *given, *outputs)
        for one, other in zip(*results, strict=True):
            if one.dtype.kind == "f":
                limit = 4 * np.finfo(one.dtype).eps
                np.testing.assert_allclose(other, one, rtol=limit, err_msg=operation.name)
                numbers = ~np.isnan(one)
                signs = np.signbit(one[numbers]) == np.signbit(other[numbers])
                assert signs.all(), operation.name
            else:
                np.testing.assert_array_equal(other, one, err_msg=operation.name)


PROGRAMS = """
func.func @swap(%n: index, %a: f64, %b: f64) -> (f64, f64) {
  %x, %y = affine.for %i = 0 to %n iter_args(%p = %a, %q = %b) -> (f64, f64) {
    affine.yield %q, %p : f64, f64
  }
  return %x, %y : f64, f64
}
func.func @total(%A: memref<?x?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?x?xf64>
  %s = affine.for %i = 0 to %n iter_args(%t = %zero) -> (f64) {
    %v = affine.load %A[%i, 0] : memref<?x?xf64>
    %w = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) -> f64 {
      affine.yield %v : f64
    } else {
      affine.yield %zero : f64
    }
    %u = arith.addf %t, %w : f64
    affine.yield %u : f64
  }
  return %s : f64
}
func.func @reversed(%n: index, %A: memref<?xf64>) {
  %copy = memref.alloc(%n) : memref<?xf64>
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    affine.store %0, %copy[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    %0 = affine.load %copy[symbol(%n) - %i - 1] : memref<?xf64>
    affine.store %0, %A[%i] : memref<?xf64>
  }
  memref.dealloc %copy : memref<?xf64>
  return
}
func.func @twice(%A: memref<4x3xf64>) -> f64 {
  %B = memref.cast %A : memref<4x3xf64> to memref<?x?xf64>
  %0 = func.call @total(%B) : (memref<?x?xf64>) -> f64
  %1 = func.call @total(%B) : (memref<?x?xf64>) -> f64
  %2 = arith.addf %0, %1 : f64
  return %2 : f64
}
func.func @spread(%n: index, %A: memref<?x?xi64>) {
  affine.parallel (%i, %j) = (0, 1) to (symbol(%n), min(symbol(%n), 7)) step (2, 1) {
    %0 = affine.apply affine_map<(d0, d1) -> (d0 * 10 + d1)>(%i, %j)
    %1 = arith.index_cast %0 : index to i64
    affine.store %1, %A[%i, %j] : memref<?x?xi64>
  }
  return
}
func.func @greatest(%n: index, %A: memref<?xi64>) -> i64 {
  %0 = affine.parallel (%i) = (0) to (symbol(%n)) reduce ("maxs") -> (i64) {
    %1 = affine.load %A[%i] : memref<?xi64>
    affine.yield %1 : i64
  }
  return %0 : i64
}
"""


@pytest.mark.parametrize("compiler", compilers())
def test_control_flow_and_memory(tmp_path: Path, compiler: str) -> None:
    # clang has no OpenMP runtime everywhere.
    flags = ("-fopenmp",) if compiler == "gcc" else ()
    code = CCode(PROGRAMS, tmp_path, compiler, *flags)
    assert code("swap", 3, 1.0, 2.0) == (2.0, 1.0)
    assert code("swap", 0, 1.0, 2.0) == (1.0, 2.0)
    array = np.arange(12.0).reshape(4, 3)
    assert code("total", array) == 18.0
    assert code("twice", array) == 36.0
    line = np.arange(5.0)
    code("reversed", 5, line)
    np.testing.assert_array_equal(line, np.arange(5.0)[::-1])
    plane = np.full((9, 9), -1)
    code("spread", 9, plane)
    rows, columns = np.indices((9, 9))
    inside = (rows % 2 == 0) & (columns >= 1) & (columns < 7)
    np.testing.assert_array_equal(plane, np.where(inside, 10 * rows + columns, -1))
    assert code("greatest", 4, np.array([-5, -3, -9, -4])) == -3
    assert code("greatest", 0, np.zeros(0, np.int64)) == -(1 << 63)
