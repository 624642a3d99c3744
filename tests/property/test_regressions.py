"""Small programs that once went wrong, found by random ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.interpreter import Interpreter

from loopwright.dialects.parse import parse_module
from loopwright.runtime.program import load


@dataclass(frozen=True)
class Case:
    """A program `@f`, what it was about, its arguments and a schedule."""

    name: str
    text: str
    arguments: Callable[[], list[Any]]
    pipeline: str | None = None


CASES = (
    Case(
        "values pass between the pieces of a loop that runs once",
        """
        func.func @f(%n: index, %A: memref<?xi64>, %B: memref<?xi64>) {
          affine.for %i = 0 to affine_map<()[s0] -> (s0 floordiv 2)>()[%n] {
            %x = affine.load %A[%i] : memref<?xi64>
            %t = memref.alloca() : memref<i64>
            affine.store %x, %t[] : memref<i64>
            affine.for %j = 0 to %n {
              %y = affine.load %t[] : memref<i64>
              %z = arith.addi %y, %y : i64
              affine.store %z, %t[] : memref<i64>
            }
            %w = affine.load %t[] : memref<i64>
            affine.store %w, %B[%i] : memref<?xi64>
          }
          return
        }
        """,
        lambda: [2, np.arange(3, 5), np.zeros(2, np.int64)],
        "unroll{loops=j factor=2}",
    ),
    Case(
        "a guard without else",
        """
        func.func @f(%n: index, %A: memref<?xi64>) {
          %c = arith.constant 7 : i64
          affine.for %i = 0 to %n {
            affine.if affine_set<(d0) : (d0 mod 3 == 0)>(%i) {
              affine.store %c, %A[%i + 1] : memref<?xi64>
            }
            affine.store %c, %A[%i] : memref<?xi64>
          }
          return
        }
        """,
        lambda: [13, np.arange(14)],
        "tile{loops=i sizes=32}",
    ),
    Case(
        "values pass within a loop that runs once, at a value in several pieces",
        """
        func.func @f(%n: index, %k: index, %A: memref<?xi32>, %B: memref<?xi32>) {
          affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
            affine.for %j = max affine_map<(d0) -> (0, d0 - 2)>(%i) to %k step 5 {
              %x = affine.load %B[%i] : memref<?xi32>
              %r = affine.for %l = 0 to %n iter_args(%sum = %x) -> (i32) {
                %y = affine.load %A[%i] : memref<?xi32>
                %z = arith.addi %sum, %y : i32
                affine.yield %z : i32
              }
              affine.store %r, %A[%i] : memref<?xi32>
            }
          }
          return
        }
        """,
        lambda: [5, 2, np.arange(5, dtype=np.int32), np.arange(5, dtype=np.int32)],
        "",
    ),
    Case(
        "one load in statements of different depth",
        """
        func.func @f(%n: index, %A: memref<?xi64>, %B: memref<?xi64>, %C: memref<?x?xi64>) {
          affine.for %i = 0 to %n {
            %x = affine.load %A[%n - 1 - %i] : memref<?xi64>
            affine.store %x, %B[%i] : memref<?xi64>
            affine.for %j = 0 to %n {
              affine.store %x, %C[%i, %j] : memref<?x?xi64>
            }
          }
          return
        }
        """,
        lambda: [3, np.arange(3), np.zeros(3, np.int64), np.zeros((3, 3), np.int64)],
        "",
    ),
    Case(
        "the minimum of affine functions in vectors",
        """
        func.func @f(%n: index, %m: index, %A: memref<?xf64>) {
          affine.for %i = 2 to affine_map<()[s0] -> (s0 + 1)>()[%n] step 3 {
            %x = affine.min affine_map<(d0)[s0, s1] -> (-d0 + s0, s1)>(%i)[%n, %m]
            %y = arith.index_cast %x : index to i32
            %z = arith.sitofp %y : i32 to f64
            affine.store %z, %A[%i] : memref<?xf64>
          }
          return
        }
        """,
        lambda: [20, 4, np.zeros(21)],
        "vectorize{loops=i width=4}",
    ),
    Case(
        "a tile that does not exist where another statement runs",
        """
        func.func @f(%n: index, %A: memref<?xi64>, %B: memref<?xi64>) {
          %c = arith.constant 7 : i64
          affine.for %i = 0 to 15 {
            affine.store %c, %A[%i] : memref<?xi64>
          }
          affine.for %i = 0 to %n {
            affine.store %c, %B[%i] : memref<?xi64>
          }
          return
        }
        """,
        lambda: [31, np.zeros(40, np.int64), np.zeros(31, np.int64)],
        "strip-mine{loops=S0.i size=5},fuse{loops=it,S1.i}",
    ),
    Case(
        "a split loop around a statement that never runs",
        """
        func.func @f(%n: index, %A: memref<?xi64>) {
          %c = arith.constant 7 : i64
          affine.for %i = 0 to %n {
            affine.for %j = 0 to %n {
              affine.store %c, %A[%j] : memref<?xi64>
              affine.for %k = affine_map<(d0) -> (d0 + 1)>(%j) to affine_map<(d0) -> (d0)>(%j) {
                affine.store %c, %A[0] : memref<?xi64>
              }
            }
            affine.store %c, %A[%i] : memref<?xi64>
          }
          return
        }
        """,
        lambda: [5, np.zeros(5, np.int64)],
        "split{loops=j at=3}",
    ),
    Case(
        "vectors of a loop around one that runs once",
        """
        func.func @f(%n: index, %A: memref<?xi32>) {
          affine.for %i = 1 to %n {
            %x = affine.load %A[%i - 1] : memref<?xi32>
            %y = arith.addi %x, %x : i32
            affine.store %y, %A[%i] : memref<?xi32>
          }
          return
        }
        """,
        lambda: [8, np.arange(8, dtype=np.int32)],
        "strip-mine{loops=i size=1},vectorize{loops=it width=4}",
    ),
    Case(
        "vectors of a loop around one that is left out, whose value is that of the lane",
        """
        func.func @f(%n: index, %A: memref<?xi32>, %B: memref<?xi32>) {
          affine.for %i = 0 to %n {
            affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 2)>(%i) {
              affine.if affine_set<(d0, d1) : (d1 - d0 - 1 == 0)>(%i, %j) {
                %x = affine.load %B[%i] : memref<?xi32>
                affine.store %x, %A[%i + 1] : memref<?xi32>
              }
              affine.if affine_set<(d0, d1) : (d1 - d0 == 0)>(%i, %j) {
                %x = affine.load %A[%i] : memref<?xi32>
                %y = arith.addi %x, %x : i32
                affine.store %y, %B[%i] : memref<?xi32>
              }
            }
          }
          return
        }
        """,
        lambda: [12, np.ones(13, np.int32), np.zeros(13, np.int32)],
        "vectorize{loops=i width=4}",
    ),
    Case(
        "vectors in a tile whose loop is left out, after a loop of the same name",
        """
        func.func @f(%n: index, %A: memref<?xi64>, %B: memref<?xi64>, %C: memref<?x?xi64>) {
          affine.for %i = 0 to %n {
            %x = affine.load %A[%i] : memref<?xi64>
            affine.store %x, %B[%i] : memref<?xi64>
          }
          affine.for %i = 0 to %n {
            %x = affine.load %A[%i] : memref<?xi64>
            affine.store %x, %C[%i floordiv 2, %i mod 2] : memref<?x?xi64>
          }
          return
        }
        """,
        lambda: [19, np.arange(19), np.zeros(19, np.int64), np.zeros((10, 2), np.int64)],
        "strip-mine{loops=S0.i size=8},strip-mine{loops=S0.i size=2},"
        "strip-mine{loops=S1.i size=2},strip-mine{loops=S1.i size=8},"
        "vectorize{loops=S1.i width=2},split{loops=S1.it2 at=3}",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_compiled_code_does_what_the_program_says(case: Case) -> None:
    expected, found = case.arguments(), case.arguments()
    Interpreter(parse_module(case.text)).run("f", *expected)
    load(case.text)["f"].compile(case.pipeline, verify=True)(*found)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
