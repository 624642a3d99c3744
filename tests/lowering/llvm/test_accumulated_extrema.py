"""Extrema accumulated by comparison: each selection, with NaN, infinities and both zeros."""

from __future__ import annotations

import itertools
import re

import numpy as np
import numpy.typing as npt
import pytest
from support.machine_code import NUMPY_TYPES

import loopwright
from loopwright.passes.machine.target import Target

PREDICATES = ("ogt", "oge", "olt", "ole", "ugt", "uge", "ult", "ule")
SIZES = (0, 1, 31, 32, 33, 100, 257)

ROWS = """
func.func @f(%n: index, %A: memref<6x?xTYPE>, %M: memref<6xTYPE>) {
  affine.for %i = 0 to 6 {
    %first = affine.load %M[%i] : memref<6xTYPE>
    %last = affine.for %j = 0 to %n iter_args(%m = %first) -> (TYPE) {
      %a = affine.load %A[%i, %j] : memref<6x?xTYPE>
      %c = arith.cmpf PREDICATE, COMPARED : TYPE
      %r = arith.select %c, SELECTED : TYPE
      affine.yield %r : TYPE
    }
    affine.store %last, %M[%i] : memref<6xTYPE>
  }
  return
}
"""

COLUMNS = """
func.func @f(%n: index, %A: memref<6x?xTYPE>, %M: memref<6xTYPE>) {
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to %n {
      %m = affine.load %M[%i] : memref<6xTYPE>
      %a = affine.load %A[%i, %j] : memref<6x?xTYPE>
      %c = arith.cmpf PREDICATE, COMPARED : TYPE
      %r = arith.select %c, SELECTED : TYPE
      affine.store %r, %M[%i] : memref<6xTYPE>
    }
  }
  return
}
"""


def holds(predicate: str, left: float, right: float) -> bool:
    if np.isnan(left) or np.isnan(right):
        return predicate[0] == "u"
    return {"gt": left > right, "ge": left >= right, "lt": left < right, "le": left <= right}[
        predicate[1:]
    ]


def expected(
    rows: npt.NDArray[np.floating], most: npt.NDArray[np.floating], predicate: str, order: str
) -> npt.NDArray[np.floating]:
    compared, selected = (re.findall("[am]", part) for part in order.split("?"))
    result = most.copy()
    for i, row in enumerate(rows):
        for a in row:
            now = {"a": a, "m": result[i]}
            left, right = (now[name] for name in compared)
            result[i] = now[selected[0 if holds(predicate, left, right) else 1]]
    return result


def rows_of(n: int, kind: type[np.floating], specials: str) -> npt.NDArray[np.floating]:
    generator = np.random.default_rng(n)
    rows = generator.standard_normal((6, n)).astype(kind)
    rows[1] = -abs(rows[1])
    rows[2] = abs(rows[2])
    values = {
        "none": [],
        "zeros": [0.0, -0.0],
        "nan": [np.nan, 0.0, -0.0],
        "infinite": [np.inf, -np.inf, np.nan],
    }[specials]
    for value in values * (n // 9):
        rows[generator.integers(4), generator.integers(n)] = value
    if n and values:
        rows[4] = generator.choice(values, n)
        rows[5] = np.where(generator.integers(n, size=n) < 2, values[0], -1.0)
    return rows


def text_of(pattern: str, predicate: str, order: str, kind: str) -> str:
    compared, selected = (", ".join(f"%{name}" for name in part) for part in order.split("?"))
    text = pattern.replace("PREDICATE", predicate).replace("TYPE", kind)
    return text.replace("COMPARED", compared).replace("SELECTED", selected)


@pytest.mark.parametrize("pattern", [ROWS, COLUMNS], ids=["carried", "stored"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("order", ["am?am", "am?ma", "ma?am", "ma?ma"])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_selections_have_the_bits_of_the_loop_in_order(
    predicate: str, order: str, kind: str, pattern: str
) -> None:
    function = loopwright.load(text_of(pattern, predicate, order, kind))["f"]
    dtype = NUMPY_TYPES[kind]
    integers = {4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
    for fast_math in (False, True):
        kernel = function.compile("", threads=1, fast_math=fast_math)
        for n, specials in itertools.product(SIZES, ("none", "zeros", "nan", "infinite")):
            for initial in ([-1.0] * 6, [np.nan, 0.0, -0.0, -np.inf, np.inf, -9.0]):
                rows = rows_of(n, dtype, specials)
                most = np.array(initial, dtype)
                wanted = expected(rows, most, predicate, order)
                kernel(n, rows, most)
                if fast_math:  # The sign of a zero does not count.
                    np.testing.assert_array_equal(most, wanted)
                else:
                    same = (most.view(integers) == wanted.view(integers)) | (
                        np.isnan(most) & np.isnan(wanted)
                    )
                    assert same.all(), (n, specials, initial, most, wanted)


@pytest.mark.parametrize(("predicate", "order"), [("ogt", "am?am"), ("olt", "am?ma")])
def test_loops_are_vectors_without_fast_math(predicate: str, order: str) -> None:
    function = loopwright.load(text_of(ROWS, predicate, order, "f32"))["f"]
    kernel = function.compile("", threads=1, target=Target.named("generic-avx2"))
    code = kernel.specialise(1000, np.zeros((6, 1000), np.float32), np.zeros(6, np.float32))
    assert re.search(r"v(max|min)ps\s+.*ymm", code.assembly)
