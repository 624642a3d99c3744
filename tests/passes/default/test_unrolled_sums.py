"""Outer-loop vectorisation with the sums inside unrolled: blocks, taps, batches of products."""

from __future__ import annotations

import numpy as np
import pytest
from support.scops import schedule_of

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.unrolled_sums import unrolled_sums
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule

TYPES = {"f32": np.float32, "f64": np.float64}

PRODUCT = """
func.func @f(%A: memref<COUNTxNxNxTYPE>, %B: memref<NxNxTYPE>, %C: memref<COUNTxNxNxTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %b = 0 to COUNT {
    affine.for %OUTER = 0 to N {
      affine.for %INNER = 0 to N {
        %s = affine.for %k = 0 to N iter_args(%a = %zero) -> (TYPE) {
          %0 = affine.load %A[%b, FIRST] : memref<COUNTxNxNxTYPE>
          %1 = affine.load %B[SECOND] : memref<NxNxTYPE>
          %2 = arith.mulf %0, %1 : TYPE
          %3 = arith.addf %a, %2 : TYPE
          affine.yield %3 : TYPE
        }
        affine.store %s, %C[%b, %OUTER, %INNER] : memref<COUNTxNxNxTYPE>
      }
    }
  }
  return
}
"""

BLOCKS = """
func.func @f(%A: memref<HEIGHTxWIDTHxi8> {loopwright.unsigned}, %C: memref<ROWSxCOLUMNSxi32>) {
  %zero = arith.constant 0 : i32
  affine.for %OUTER = 0 to ROWS {
    affine.for %INNER = 0 to COLUMNS {
      %t = affine.for %y = 0 to N iter_args(%a = %zero) -> (i32) {
        %s = affine.for %x = 0 to N iter_args(%b = %a) -> (i32) {
          %0 = affine.load %A[%OUTER * N + %y, %INNER * N + %x] : memref<HEIGHTxWIDTHxi8>
          %1 = arith.extui %0 : i8 to i32
          %2 = arith.muli %1, %1 : i32
          %3 = arith.addi %b, %2 : i32
          affine.yield %3 : i32
        }
        affine.yield %s : i32
      }
      affine.store %t, %C[%OUTER, %INNER] : memref<ROWSxCOLUMNSxi32>
    }
  }
  return
}
"""


def filled(text: str, **values: object) -> str:
    for name, value in values.items():
        text = text.replace(name, str(value))
    return text


def product(kind: str, n: int, *, transposed: bool = False, names: str = "ij") -> str:
    """Batched products of small matrices, of the second one's rows or columns."""
    second = f"%{names[1]}, %k" if transposed else f"%k, %{names[1]}"
    first = f"%{names[0]}, %k"
    own = {"OUTER": names[0], "INNER": names[1], "FIRST": first, "SECOND": second}
    return filled(PRODUCT, COUNT=33, **own, TYPE=kind, N=n)


def blocks(n: int, rows: int, columns: int, names: tuple[str, str] = ("j", "i")) -> str:
    sizes = {"HEIGHT": rows * n, "WIDTH": columns * n, "ROWS": rows, "COLUMNS": columns}
    return filled(BLOCKS, OUTER=names[0], INNER=names[1], **sizes).replace("N", str(n))


def answer(text: str, reassociate: bool = False) -> Schedule | None:
    original = Schedule.original(schedule_of(text).scop, reassociate=reassociate)
    (nest,) = nests(original.tree)
    return unrolled_sums(original, nest, SchedulingContext(infer_extents(original.scop, {}), 2))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("n", [4, 6, 7, 8])
@pytest.mark.parametrize(("transposed", "names"), [(False, "ij"), (True, "ij"), (True, "pq")])
def test_small_products(zen3: None, kind: str, n: int, transposed: bool, names: str) -> None:
    text = product(kind, n, transposed=transposed, names=names)
    found = answer(text)
    assert found is not None
    steps = [step.name for step in found.transformations]
    assert "vectorize" in steps and "unroll" in steps
    generator = np.random.default_rng(1)
    a, b = generator.random((33, n, n)), generator.random((n, n))
    results = np.zeros((2, 33, n, n), TYPES[kind])
    for schedule, result in zip((None, str(found)), results, strict=True):
        kernel = loopwright.load(text)["f"].compile(schedule, threads=2)
        kernel(a.astype(TYPES[kind]), b.astype(TYPES[kind]), result)
    assert np.array_equal(results[0], results[1])
    assert np.allclose(results[1], a @ (b.T if transposed else b), rtol=1e-4)


@pytest.mark.parametrize(("n", "rows", "columns"), [(8, 9, 40), (4, 7, 33), (5, 3, 70)])
@pytest.mark.parametrize("names", [("j", "i"), ("row", "at")])
@pytest.mark.usefixtures("zen3")
def test_sums_of_blocks(n: int, rows: int, columns: int, names: tuple[str, str]) -> None:
    text = blocks(n, rows, columns, names)
    found = answer(text)
    assert found is not None and f"vectorize{{loops={names[1]} " in str(found)
    a = np.random.default_rng(1).integers(0, 256, (rows * n, columns * n), np.uint8)
    results = np.zeros((2, rows, columns), np.int32)
    for schedule, result in zip((None, str(found)), results, strict=True):
        loopwright.load(text)["f"].compile(schedule, threads=2)(a, result)
    assert np.array_equal(results[0], results[1])
    squares = a.astype(np.int32).reshape(rows, n, columns, n) ** 2
    assert np.array_equal(results[1], squares.sum((1, 3)))


@pytest.mark.parametrize(("kind", "n"), [("f32", 4), ("f32", 8), ("f64", 4), ("f64", 6)])
@pytest.mark.parametrize(("transposed", "names"), [(False, "ij"), (True, "ij"), (True, "pq")])
@pytest.mark.parametrize("reassociate", [False, True])
@pytest.mark.usefixtures("zen3")
def test_it_is_chosen(kind: str, n: int, transposed: bool, names: str, reassociate: bool) -> None:
    """Instead of tiles for caches and packed operands."""
    text = product(kind, n, transposed=transposed, names=names).replace("33", "1500")
    scop = schedule_of(text).scop
    chosen = default_schedule(
        scop, infer_extents(scop, {}), threads=1, reassociate=reassociate
    ).transformations
    assert {step.name for step in chosen} <= {"vectorize", "unroll", "unroll-and-jam"}
    assert str(chosen[0]).startswith(("vectorize{loops=" + names[0], "vectorize{loops=" + names[1]))


@pytest.mark.usefixtures("zen3")
def test_long_sums_are_left_alone() -> None:
    assert answer(product("f32", 33)) is None


@pytest.mark.usefixtures("zen3")
def test_lengths_that_differ_between_lanes_are_left_alone() -> None:
    text = product("f32", 8).replace("%k = 0 to 8", "%k = 0 to %j")
    found = answer(text)
    assert found is None or "vectorize{loops=j" not in str(found)
