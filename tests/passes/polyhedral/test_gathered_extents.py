"""Extents that subscripts which are not affine need: at least what a run touches."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.index_arrays import index_arrays
from loopwright.passes.polyhedral.scop import Scop
from loopwright.runtime.program import Program

TEXT = """
func.func @f(%n: index, %A: memref<?xf64>, %y: memref<?xf64>) {{
  %two = arith.constant 2 : i64
  %five = arith.constant 5 : i64
  affine.for %i = 0 to %n {{
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {{
      %a = arith.index_cast %i : index to i64
      %b = arith.index_cast %j : index to i64
      {body}
      %k = arith.index_cast %r : i64 to index
      %v = memref.load %A[%k] : memref<?xf64>
      affine.store %v, %y[%j + 2] : memref<?xf64>
    }}
  }}
  return
}}
"""

Subscript = Callable[[int, int], int]
BODIES: dict[str, tuple[str, Subscript, int]] = {
    "product": ("%r = arith.muli %a, %b : i64", lambda i, j: i * j, 0),
    "triangle": (
        "%c = arith.addi %a, %five : i64 %d = arith.muli %a, %c : i64 "
        "%e = arith.divsi %d, %two : i64 %r = arith.addi %e, %b : i64",
        lambda i, j: i * (i + 5) // 2 + j,
        0,
    ),
    "rounded down": (
        "%c = arith.muli %a, %a : i64 %r = arith.floordivsi %c, %five : i64",
        lambda i, j: i * i // 5,
        0,
    ),
    "bits": (
        "%c = arith.muli %a, %b : i64 %r = arith.andi %c, %five : i64",
        lambda i, j: (i * j) & 5,
        0,
    ),
    "remainder": (
        "%c = arith.muli %a, %b : i64 %r = arith.remsi %c, %five : i64",
        lambda i, j: i * j % 5,
        0,
    ),
    "difference": (
        "%c = arith.muli %a, %a : i64 %d = arith.muli %b, %b : i64 %r = arith.subi %c, %d : i64",
        lambda i, j: i * i - j * j,
        -1,
    ),
}


def scop_of(text: str) -> Scop:
    return Program(parse_module(text))["f"].scop


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("name", BODIES)
def test_extents_are_at_least_what_is_touched(name: str, n: int) -> None:
    body, subscript, unknown = BODIES[name]
    found = infer_extents(scop_of(TEXT.format(body=body)), {"n": n})
    touched = max(subscript(i, j) for i in range(n) for j in range(i + 1)) + 1
    assert found["y_dim0"] == n + 2
    if unknown and n > 1:
        assert "A_dim0" not in found  # intervals do not tell that it is never negative
    else:
        assert touched <= found["A_dim0"] <= max(touched, 6, n * n)


def test_arrays_whose_elements_are_subscripts() -> None:
    scop = scop_of("""
func.func @f(%n: index, %J: memref<?xi32>, %K: memref<?xindex>, %A: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    %j = affine.load %J[%i] : memref<?xi32>
    %k = arith.index_cast %j : i32 to index
    %l = affine.load %K[%i] : memref<?xindex>
    %v = memref.load %A[%k, %l] : memref<?x?xf64>
    memref.store %v, %A[%l, %i] : memref<?x?xf64>
  }
  return
}
""")
    found = index_arrays(scop)
    assert set(found[1]) == {(3, 0)}
    assert set(found[2]) == {(3, 0), (3, 1)}
