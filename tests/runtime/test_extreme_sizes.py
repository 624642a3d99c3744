"""Sizes at the ends of their types: the result of unbounded integers, or a refusal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_libraries import SharedLibrary

import loopwright
from loopwright.errors import BoundsError
from loopwright.lowering.llvm import Status

PROGRAM = """
#below = affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>
func.func @compare(%n: index, %t: index, %Y: memref<?xi32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  affine.for %i = 0 to %n {
    affine.if #below(%i)[%t] {
      affine.store %one, %Y[%i] : memref<?xi32>
    } else {
      affine.store %two, %Y[%i] : memref<?xi32>
    }
  }
  return
}
func.func @between(%n: index, %t: index, %Y: memref<?xi32>) {
  %one = arith.constant 1 : i32
  affine.for %i = max affine_map<()[s0] -> (0, s0 - 2)>()[%t]
               to min affine_map<()[s0, s1] -> (s0, s1 * 3 + 5)>()[%n, %t] {
    affine.store %one, %Y[%i] : memref<?xi32>
  }
  return
}
func.func @narrow(%n: index, %m: i32, %Y: memref<?xi32>) {
  %one = arith.constant 1 : i32
  %next = arith.addi %m, %one : i32
  affine.for %i = 0 to %n {
    %x = arith.index_cast %i : index to i32
    %is_below = arith.cmpi slt, %x, %next : i32
    scf.if %is_below {
      affine.store %one, %Y[%i] : memref<?xi32>
    }
  }
  return
}
func.func @hash(%n: index, %Y: memref<?xi32>) {
  %factor = arith.constant 1103515245 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  affine.for %i = 0 to %n {
    %x = arith.index_cast %i : index to i32
    %h = arith.muli %x, %factor : i32
    %is_negative = arith.cmpi slt, %h, %zero : i32
    scf.if %is_negative {
      affine.store %one, %Y[%i] : memref<?xi32>
    }
  }
  return
}
func.func @bytes(%n: index, %Y: memref<?xi32>) {
  %five = arith.constant 5 : i8
  %one = arith.constant 1 : i32
  affine.for %i = 0 to %n {
    %x = arith.index_cast %i : index to i8
    %is_below = arith.cmpi slt, %x, %five : i8
    scf.if %is_below {
      affine.store %one, %Y[%i] : memref<?xi32>
    }
  }
  return
}
"""
N = 8
ENDS = (-(2**63), -(2**63) + 1, -(2**62), -1, 2, 2**62, 2**63 - 3, 2**63 - 1)
SCHEDULES = (None, "default", "strip-mine{loops=i size=3}", "vectorize{loops=i width=4}")


def expected(name: str, t: int) -> list[int]:
    if name == "compare":
        return [1 if i < t else 2 for i in range(N)]
    return [int(t - 2 <= i < 3 * t + 5) for i in range(N)]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["compare", "between"])
def test_kernels(name: str, schedule: str | None) -> None:
    kernel = loopwright.load(PROGRAM)[name].compile(schedule, verify=True)
    for t in ENDS:
        result = np.zeros(N, np.int32)
        kernel(N, t, result)
        assert result.tolist() == expected(name, t), t


@pytest.mark.parametrize("schedule", [None, *SCHEDULES[2:]])
@pytest.mark.parametrize("name", ["compare", "between"])
def test_libraries(name: str, schedule: str | None, tmp_path: Path) -> None:
    """Sizes that are too large for the code are refused, and nothing has happened."""
    built = loopwright.load(PROGRAM)[name].build(tmp_path / "library.so", schedule, threads=2)
    library = SharedLibrary(built)
    for t in (*ENDS, 2**52, -(2**52)):
        result = np.zeros(N, np.int32)
        status = library(name, N, t, result, N)
        if abs(t) <= 2**52:
            assert status == Status.OK and result.tolist() == expected(name, t), t
        else:
            assert status == Status.OUT_OF_BOUNDS and not result.any(), t
    assert library(name, N, 1, result, 2**62) == Status.OUT_OF_BOUNDS


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_narrow_arithmetic(schedule: str | None) -> None:
    """What would wrap around on the way to an index is refused, whatever the schedule."""
    kernel = loopwright.load(PROGRAM)["narrow"].compile(schedule)
    result = np.zeros(N, np.int32)
    kernel(N, 2, result)
    assert result.tolist() == [int(i < 3) for i in range(N)]
    kernel(N, 2**31 - 2, result)
    assert result.all()
    with pytest.raises(
        BoundsError, match=r"an index of .narrow. leaves its integer type, with.* m=2147483647"
    ):
        kernel(N, 2**31 - 1, result)


def test_narrow_arithmetic_of_libraries(tmp_path: Path) -> None:
    library = SharedLibrary(loopwright.load(PROGRAM)["narrow"].build(tmp_path / "library.so"))
    result = np.zeros(N, np.int32)
    assert library("narrow", N, 2**31 - 1, result, N) == Status.OUT_OF_BOUNDS
    assert not result.any()
    assert library("narrow", N, 2**31 - 2, result, N) == Status.OK
    assert result.all()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("name", "count"), [("hash", 16), ("bytes", 300)])
def test_arithmetic_that_wraps_around(name: str, count: int, schedule: str | None) -> None:
    """Products of hashes, and narrow integers, are no indices: every schedule has their values."""
    result = np.zeros(count, np.int32)
    loopwright.load(PROGRAM)[name].compile(schedule)(count, result)
    numbers = np.arange(count)
    wrapped = (numbers * 1103515245).astype(np.int32) < 0, numbers.astype(np.int8) < 5
    assert np.array_equal(result, wrapped[name == "bytes"].astype(np.int32))
