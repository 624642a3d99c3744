"""Local arrays under schedules that move their origins: nothing outside of them is accessed."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from loopwright.dialects.errors import SourceError
from loopwright.lowering import generate as generation
from loopwright.lowering.generate import generate
from loopwright.lowering.loops.storage import Placement
from loopwright.lowering.nest.index_expression import Index
from loopwright.runtime.program import Function, load

ORIGIN_BY_QUOTIENTS = """
func.func @f(%A: memref<14x16xi64>) {
  affine.for %k = 1 to 12 {
    %x = affine.load %A[%k, %k + 1] : memref<14x16xi64>
    %y = affine.load %A[((%k - 1) mod 2) + 1, %k + 2] : memref<14x16xi64>
    %z = arith.maxsi %x, %y : i64
    affine.store %z, %A[(%k - 1) mod 2, %k + 2] : memref<14x16xi64>
  }
  return
}
"""

TWO_ARRAYS = """
func.func @f(%A: memref<40xi64>, %B: memref<40x3xi64>) {
  affine.for %k = 0 to 12 {
    affine.for %j = 0 to 3 {
      %x = affine.load %A[%k * 2 + %j] : memref<40xi64>
      %y = affine.load %B[%k + %j * 3, %j] : memref<40x3xi64>
      %z = arith.addi %x, %y : i64
      affine.store %z, %B[%k + %j * 3, %j] : memref<40x3xi64>
    }
  }
  return
}
"""

STRIDES_AND_QUOTIENTS = """
func.func @f(%A: memref<40xi64>, %B: memref<40xi64>) {
  affine.for %k = 0 to 30 step 2 {
    affine.for %j = 0 to 3 {
      %x = affine.load %A[%k + %j] : memref<40xi64>
      %y = affine.load %B[(%k floordiv 3) floordiv 2 + %j] : memref<40xi64>
      %z = arith.addi %x, %y : i64
      affine.store %z, %B[(%k floordiv 3) floordiv 2 + %j] : memref<40xi64>
    }
  }
  return
}
"""

NEGATIVE_LOOP_VALUES = """
func.func @f(%A: memref<40xi64>, %B: memref<40xi64>) {
  affine.for %k = -9 to 9 {
    affine.for %j = 0 to 3 {
      %x = affine.load %A[%k * 2 + %j + 18] : memref<40xi64>
      affine.store %x, %B[%k * 2 + %j + 18] : memref<40xi64>
    }
  }
  return
}
"""

SCALAR_AND_ROW = """
func.func @f(%A: memref<40xi64>, %B: memref<40xi64>) {
  affine.for %k = 0 to 12 {
    %s = memref.alloca() : memref<i64>
    %r = memref.alloca() : memref<4xi64>
    affine.for %j = 0 to 4 {
      %x = affine.load %A[%k * 2 + %j] : memref<40xi64>
      affine.store %x, %s[] : memref<i64>
      %y = affine.load %s[] : memref<i64>
      affine.store %y, %r[%j] : memref<4xi64>
    }
    affine.for %l = 0 to 4 {
      %x = affine.load %r[3 - %l] : memref<4xi64>
      affine.store %x, %B[%k * 2 + %l] : memref<40xi64>
    }
  }
  return
}
"""

SUM = """
func.func @f(%A: memref<12x16xi64>, %B: memref<12xi64>) {
  affine.for %k = 0 to 12 {
    affine.for %j = 0 to 16 {
      %x = affine.load %A[%k, %j] : memref<12x16xi64>
      %y = affine.load %B[%k] : memref<12xi64>
      %z = arith.addi %x, %y : i64
      affine.store %z, %B[%k] : memref<12xi64>
    }
  }
  return
}
"""

PACKED = {
    "packed first": "pack{loops=k array=B},strip-mine{loops=k size=%d},wavefront{loops=kt,k %s}",
    "packed last": "strip-mine{loops=k size=%d},wavefront{loops=kt,k %s},pack{loops=kt array=B}",
    "packed between": "strip-mine{loops=k size=%d},pack{loops=k array=B},wavefront{loops=kt,k %s}",
    "both arrays": "pack{loops=k array=B},pack{loops=k array=A},"
    "strip-mine{loops=k size=%d},wavefront{loops=kt,k %s}",
}


def arguments_of(function: Function) -> list[Any]:
    source = np.random.default_rng(0)
    shapes = [re.findall(r"\d+(?=x)", str(a.type)) for a in function.function.args]
    return [source.integers(-50, 50, [int(extent) for extent in shape]) for shape in shapes]


def assert_same_results(text: str, pipeline: str) -> None:
    """With the pipeline, in a bounds-checked build, the program does what it does as written."""
    function = load(text)["f"]
    expected, found = arguments_of(function), arguments_of(function)
    function.compile(None)(*expected)
    function.compile(pipeline, check_bounds=True)(*found)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_packed_tile_below_a_wavefront() -> None:
    """isl counts the iterations of a wavefront whose values are all even."""
    text = """
      func.func @f(%A: memref<4x6xi64>) {
        affine.for %k = 1 to 4 {
          %17 = affine.load %A[%k, (%k + 1)] : memref<4x6xi64>
          %18 = affine.load %A[((%k + -1) mod 2) + 1, (%k + 2)] : memref<4x6xi64>
          %19 = arith.maxsi %17, %18 : i64
          affine.store %19, %A[(%k + -1) mod 2, (%k + 2)] : memref<4x6xi64>
        }
        return
      }
    """
    assert_same_results(
        text,
        "pack{loops=k array=A order=0,1},strip-mine{loops=k size=7},"
        "wavefront{loops=kt,k factors=1,2}",
    )


@pytest.mark.parametrize("factors", [(1, 2), (3, 2)], ids=str)
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("order", PACKED)
def test_packed_arrays(order: str, size: int, factors: tuple[int, int]) -> None:
    pipeline = PACKED[order] % (size, "factors={},{}".format(*factors))
    for text in (TWO_ARRAYS, STRIDES_AND_QUOTIENTS, NEGATIVE_LOOP_VALUES):
        assert_same_results(text, pipeline)


@pytest.mark.parametrize("factors", ["1,2", "2,1", "3,2"])
@pytest.mark.parametrize("size", [1, 7])
def test_origins_with_nested_quotients(size: int, factors: str) -> None:
    strip = f"strip-mine{{loops=k size={size}}}"
    wavefront = f"wavefront{{loops=kt,k factors={factors}}}"
    for steps in (("pack{loops=k array=A}", strip), (strip, "pack{loops=k array=A order=1,0}")):
        assert_same_results(ORIGIN_BY_QUOTIENTS, ",".join((*steps, wavefront)))


@pytest.mark.parametrize(
    "pipeline",
    [
        "strip-mine{loops=k size=1},wavefront{loops=kt,k factors=2,1}",
        "strip-mine{loops=k size=1},wavefront{loops=kt,k factors=3,2},vectorize{loops=l width=4}",
        "strip-mine{loops=k size=5},skew{loops=kt,k factors=2},parallel{loops=l}",
        "strip-mine{loops=k size=40},wavefront{loops=kt,k factors=1,2},unroll{loops=j factor=2}",
        "expand{loops=k array=r},strip-mine{loops=k size=1},wavefront{loops=kt,k factors=1,2}",
    ],
)
def test_scalars_and_local_arrays(pipeline: str) -> None:
    assert_same_results(SCALAR_AND_ROW, pipeline)


@pytest.mark.parametrize(
    "pipeline",
    [
        "tile{loops=j sizes=4},rfactor{loops=j},strip-mine{loops=k size=1},"
        "wavefront{loops=kt,k factors=1,2}",
        "tile{loops=j sizes=5},rfactor{loops=jt},strip-mine{loops=k size=3},"
        "wavefront{loops=kt,k factors=2,1}",
        "strip-mine{loops=k size=1},wavefront{loops=kt,k factors=3,2},rfactor{loops=j}",
    ],
)
def test_partial_results(pipeline: str) -> None:
    assert_same_results(SUM, pipeline)


def test_code_that_would_leave_a_local_array_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof is about the loops, not about how origins were found."""
    place = generation.place_local_arrays

    def moved(*arguments: Any) -> list[Placement]:
        return [
            replace(placement, offsets=tuple(partial(later, each) for each in placement.offsets))
            for placement in place(*arguments)
        ]

    def later(offset: Any, outer: list[Index]) -> Index:
        return offset(outer) + 1

    schedule = load(TWO_ARRAYS)["f"].schedule("tile{loops=k sizes=4},pack{loops=kt array=A}")
    assert "%A_packed" in str(generate(schedule, {}))
    monkeypatch.setattr(generation, "place_local_arrays", moved)
    with pytest.raises(SourceError, match=r"'pack_A' is not proved .* 'A_packed'"):
        generate(schedule, {})


def test_symbolic_sizes_are_proved_too() -> None:
    text = """
      func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
        affine.for %i = 0 to %n {
          affine.for %j = 0 to 3 {
            %x = affine.load %A[%i + %j] : memref<?xf64>
            affine.store %x, %B[%i] : memref<?xf64>
          }
        }
        return
      }
    """
    function = load(text)["f"]
    for pipeline in ("tile{loops=i sizes=8},pack{loops=it array=A}", "pack{loops=i array=A}"):
        assert "A_packed" in str(generate(function.schedule(pipeline), {}))
