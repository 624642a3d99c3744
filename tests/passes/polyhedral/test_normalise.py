"""The normal form keeps what a program does: every construct, run as statements one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.interpreter import Interpreter
from support.polyhedral_programs import scop_of
from support.scop_execution import ScopExecution

from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.scop import Scop


def run_both(text: str, *arguments: Any) -> Scop:
    """Compares `@f` in the interpreter with its statements in the original order."""
    expected = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    expected_results = Interpreter(parse_module(text)).run("f", *expected)
    scop = scop_of(text, "f")
    actual = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    results = ScopExecution(scop, actual).run(scop.tree)
    assert list(results) == list(expected_results)
    for left, right in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(left, right)
    return scop


def ramp(*shape: int) -> np.ndarray[Any, Any]:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float64).reshape(shape)


def test_carried_values() -> None:
    scop = run_both(
        """
        func.func @f(%N: index, %A: memref<?x?xf64>, %B: memref<?xf64>) -> f64 {
          %zero = arith.constant 0.0 : f64
          %total = affine.for %i = 0 to %N iter_args(%outer = %zero) -> (f64) {
            %row = affine.for %j = 0 to %N iter_args(%acc = %zero) -> (f64) {
              %0 = affine.load %A[%i, %j] : memref<?x?xf64>
              %1 = arith.addf %acc, %0 : f64
              affine.yield %1 : f64
            }
            affine.store %row, %B[%i] : memref<?xf64>
            %2 = arith.addf %outer, %row : f64
            affine.yield %2 : f64
          }
          return %total : f64
        }
        """,
        4,
        ramp(4, 4),
        ramp(4),
    )
    depths = {array.name: array.scope_depth for array in scop.arrays if array.is_local}
    assert depths == {"acc": 1, "result0": 0}
    (acc,) = (array for array in scop.arrays if array.name == "acc")
    assert acc.shape == (None,)
    assert [array.name for array in scop.returns] == ["result0"]


def test_values_that_are_swapped_by_the_yield() -> None:
    scop = run_both(
        """
        func.func @f(%N: index, %x: f64, %y: f64) -> (f64, f64) {
          %r:2 = affine.for %i = 0 to %N iter_args(%a = %x, %b = %y) -> (f64, f64) {
            %s = arith.addf %a, %b : f64
            affine.yield %b, %s : f64, f64
          }
          return %r#0, %r#1 : f64, f64
        }
        """,
        7,
        1.0,
        2.0,
    )
    assert [len(statement.writes) for statement in scop.statements] == [1, 1, 2]


def test_accumulation_happens_where_the_result_is_stored() -> None:
    scop = run_both(
        """
        func.func @f(%N: index, %A: memref<?x?xf64>, %C: memref<?xf64>) {
          affine.for %i = 0 to %N {
            %old = affine.load %C[%i] : memref<?xf64>
            %r = affine.for %j = 0 to %N iter_args(%a = %old) -> (f64) {
              %s = affine.for %k = 0 to %N iter_args(%b = %a) -> (f64) {
                %0 = affine.load %A[%j, %k] : memref<?x?xf64>
                %1 = arith.addf %b, %0 : f64
                affine.yield %1 : f64
              }
              affine.yield %s : f64
            }
            affine.store %r, %C[%i] {loopwright.name = "sum"} : memref<?xf64>
          }
          return
        }
        """,
        3,
        ramp(3, 3),
        ramp(3),
    )
    assert [(s.name, s.loops) for s in scop.statements] == [("sum", ("i", "j", "k"))]
    assert not any(array.is_local for array in scop.arrays)


NEEDS_A_LOCAL = {
    "the loop reads the element": "%r = {loop} %0 = affine.load %C[%j] : memref<?xf64> {end}",
    "a later load reads the element": "%r = {loop} {use} {end} "
    "%1 = affine.load %C[0] : memref<?xf64> affine.store %1, %A[0, 0] : memref<?x?xf64>",
    "a later store writes the element": "%r = {loop} {use} {end} "
    "affine.store %x, %C[0] : memref<?xf64>",
    "the subscript comes later": "%r = {loop} {use} {end} %z = arith.subi %N, %N : index",
}


@pytest.mark.parametrize("case", NEEDS_A_LOCAL)
def test_accumulation_needs_a_local_array_where(case: str) -> None:
    lines = NEEDS_A_LOCAL[case].format(
        loop="affine.for %j = 0 to %N iter_args(%a = %x) -> (f64) {",
        use="%0 = affine.load %A[%j, 0] : memref<?x?xf64>",
        end="%s = arith.addf %a, %0 : f64 affine.yield %s : f64 }",
    )
    subscript = "%z" if "%z" in lines else "%c0"
    scop = run_both(
        f"""
        func.func @f(%N: index, %x: f64, %A: memref<?x?xf64>, %C: memref<?xf64>) {{
          %c0 = arith.constant 0 : index
          {lines}
          memref.store %r, %C[{subscript}] : memref<?xf64>
          return
        }}
        """,
        4,
        0.5,
        ramp(4, 4),
        ramp(4),
    )
    assert [array.name for array in scop.arrays if array.is_local] == ["a"]


def test_a_loop_without_iterations_gives_the_initial_value() -> None:
    run_both(
        """
        func.func @f(%N: index, %x: f64) -> f64 {
          %r = affine.for %i = 0 to %N iter_args(%a = %x) -> (f64) {
            %s = arith.addf %a, %a : f64
            affine.yield %s : f64
          }
          return %r : f64
        }
        """,
        0,
        3.0,
    )


def test_results_of_conditions() -> None:
    run_both(
        """
        func.func @f(%N: index, %A: memref<?xf64>, %x: f64) {
          affine.for %i = 0 to %N {
            %v:2 = affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) -> (f64, f64) {
              %0 = affine.load %A[%i - 3] : memref<?xf64>
              affine.yield %0, %x : f64, f64
            } else {
              affine.yield %x, %x : f64, f64
            }
            %1 = arith.addf %v#0, %v#1 : f64
            affine.store %1, %A[%i] : memref<?xf64>
          }
          return
        }
        """,
        8,
        ramp(8),
        2.0,
    )


def test_parallel_loops() -> None:
    scop = run_both(
        """
        func.func @f(%N: index, %A: memref<?x?xf64>) {
          affine.parallel (%i, %j) = (0, 1) to (symbol(%N), min(4, symbol(%N))) step (1, 2) {
            %0 = affine.load %A[%i, %j] : memref<?x?xf64>
            %1 = arith.addf %0, %0 : f64
            affine.store %1, %A[%i, %j] : memref<?x?xf64>
          }
          return
        }
        """,
        5,
        ramp(5, 5),
    )
    assert scop.statements[0].loops == ("i", "j")


@pytest.mark.parametrize(
    ("kind", "type_", "expected"),
    [
        ("addf", "f64", 10.0),
        ("mulf", "f64", 24.0),
        ("maximumf", "f64", 4.0),
        ("minimumf", "f64", 1.0),
        ("addi", "i32", 10),
        ("muli", "i32", 24),
        ("maxs", "i32", 4),
        ("mins", "i32", 1),
        ("andi", "i32", 0),
        ("ori", "i32", 7),
    ],
)
def test_parallel_reductions(kind: str, type_: str, expected: float) -> None:
    scop = scop_of(
        f"""
        func.func @f(%A: memref<4x{type_}>) -> {type_} {{
          %r = affine.parallel (%i) = (0) to (4) reduce ("{kind}") -> ({type_}) {{
            %0 = affine.load %A[%i] : memref<4x{type_}>
            affine.yield %0 : {type_}
          }}
          return %r : {type_}
        }}
        """
    )
    values = np.array([1, 2, 3, 4], np.float64 if type_ == "f64" else np.int32)
    assert ScopExecution(scop, [values]).run(scop.tree) == (expected,)


def test_calls_are_inlined() -> None:
    scop = run_both(
        """
        func.func private @double(%v: f64) -> f64 {
          %0 = arith.addf %v, %v : f64
          return %0 : f64
        }
        func.func private @row(%n: index, %k: index, %M: memref<?x?xf64>) {
          affine.for %j = 0 to %n {
            %0 = memref.load %M[%k, %j] : memref<?x?xf64>
            %1 = func.call @double(%0) : (f64) -> f64
            memref.store %1, %M[%k, %j] : memref<?x?xf64>
          }
          return
        }
        func.func @f(%N: index, %A: memref<?x?xf64>, %S: memref<3x3xf64>) {
          affine.for %i = 0 to %N {
            func.call @row(%N, %i, %A) : (index, index, memref<?x?xf64>) -> ()
          }
          %c0 = arith.constant 0 : index
          %dynamic = memref.cast %S : memref<3x3xf64> to memref<?x?xf64>
          %d = memref.dim %dynamic, %c0 : memref<?x?xf64>
          func.call @row(%d, %c0, %dynamic) : (index, index, memref<?x?xf64>) -> ()
          return
        }
        """,
        3,
        ramp(3, 3),
        ramp(3, 3),
    )
    assert scop.statements[0].loops == ("i", "j")
    assert [p.name for p in scop.parameters] == ["N"]


def test_scf_with_affine_bounds_and_conditions() -> None:
    run_both(
        """
        func.func @f(%n: i32, %A: memref<?x?xf64>, %x: f64) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c2 = arith.constant 2 : index
          %c3 = arith.constant 3 : i32
          %N = arith.index_cast %n : i32 to index
          scf.for %i = %c0 to %N step %c1 {
            %lower = arith.addi %i, %c1 : index
            scf.for %j = %lower to %N step %c2 {
              %small = arith.cmpi slt, %i, %c2 : index
              %odd = arith.cmpi ne, %i, %c1 : index
              %j32 = arith.index_cast %j : index to i32
              %far = arith.cmpi sge, %j32, %c3 : i32
              %both = arith.andi %small, %far : i1
              %v = scf.if %odd -> (f64) {
                %0 = memref.load %A[%j, %i] : memref<?x?xf64>
                scf.yield %0 : f64
              } else {
                scf.yield %x : f64
              }
              scf.if %both {
                memref.store %v, %A[%i, %j] : memref<?x?xf64>
              }
            }
          }
          return
        }
        """,
        7,
        ramp(7, 7),
        0.5,
    )


def test_scf_if_with_only_else_taken() -> None:
    run_both(
        """
        func.func @f(%N: index, %A: memref<?xf64>, %x: f64) {
          affine.for %i = 0 to %N {
            %c2 = arith.constant 2 : index
            %differs = arith.cmpi ne, %i, %c2 : index
            scf.if %differs {
              memref.store %x, %A[%i] : memref<?xf64>
            }
          }
          return
        }
        """,
        5,
        ramp(5),
        0.5,
    )


def test_rank_0_and_local_arrays() -> None:
    scop = run_both(
        """
        func.func @f(%N: index, %A: memref<?xf64>, %s: memref<f64>) {
          %c1 = arith.constant 1 : index
          %size = arith.addi %N, %c1 : index
          %buffer = memref.alloc(%size) : memref<?x2xf64>
          affine.for %i = 0 to %N {
            %t = memref.alloca() : memref<f64>
            %0 = affine.load %A[%i] : memref<?xf64>
            affine.store %0, %t[] : memref<f64>
            %1 = affine.load %t[] : memref<f64>
            affine.store %1, %buffer[%i + 1, 1] : memref<?x2xf64>
          }
          affine.for %i = 0 to %N {
            %0 = affine.load %buffer[%i + 1, 1] : memref<?x2xf64>
            %1 = affine.load %s[] : memref<f64>
            %2 = arith.addf %0, %1 : f64
            affine.store %2, %s[] : memref<f64>
            affine.store %2, %A[%i] : memref<?xf64>
          }
          memref.dealloc %buffer : memref<?x2xf64>
          return
        }
        """,
        5,
        ramp(5),
        np.array(2.0),
    )
    arrays = {array.name: array for array in scop.arrays}
    assert arrays["t"].scope_depth == 1
    assert arrays["buffer"].scope_depth == 0
    extent = arrays["buffer"].shape[0]
    assert not isinstance(extent, int | str | None)
    assert extent.eval([], [4]) == 5
