"""Guards of statements and of tiles that isl leaves to the bounds of a loop inside."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.nest_execution import executed, expected

from loopwright.runtime.program import load

GUARDED = """
func.func @f(%A: memref<12xi32>, %C: memref<12xi32>) {
  %one = arith.constant 1 : i32
  affine.for %k = 1 to 6 {
    affine.for %p = affine_map<(d0) -> (-(d0 floordiv 2))>(%k)
                 to affine_map<(d0) -> (d0 floordiv 2 + 1)>(%k) step 3 {
      affine.if affine_set<(d0) : (d0 mod 2 - 1 == 0)>(%k) {
        %0 = affine.load %A[%p + 3] : memref<12xi32>
        %1 = arith.addi %0, %one : i32
        affine.store %1, %A[%p + 3] : memref<12xi32>
      }
    }
    affine.store %one, %C[%k] : memref<12xi32>
  }
  return
}
"""

LARGER = """
func.func @f(%A: memref<9xf64>, %B: memref<4x7xf64>, %C: memref<8x6xf64>) {
  affine.for %k = 1 to 6 {
    affine.for %p = affine_map<(d0) -> (-(d0 floordiv 2))>(%k)
                 to affine_map<(d0) -> (d0 floordiv 2 + 1)>(%k) step 3 {
      affine.if affine_set<(d0) : (1 >= 0, d0 mod 2 == 0)>(%k) {
      } else {
        %6 = affine.load %A[%p + 2] : memref<9xf64>
        %8 = arith.index_cast %k : index to i32
        %9 = arith.sitofp %8 : i32 to f64
        %10 = affine.load %A[%k + 3] : memref<9xf64>
        %11 = arith.addf %9, %10 : f64
        %14 = affine.load %B[%p + 2, %p * 2 + 4] : memref<4x7xf64>
        %15 = arith.mulf %11, %14 : f64
        %16 = arith.addf %6, %15 : f64
        affine.store %16, %A[%p + 2] : memref<9xf64>
      }
    }
    %18 = affine.load %C[%k + 2, %k] : memref<8x6xf64>
    %19 = affine.load %B[(%k + 2) mod 4, 0] : memref<4x7xf64>
    %20 = affine.load %A[%k + 3] : memref<9xf64>
    %21 = arith.negf %20 : f64
    %22 = arith.minimumf %19, %21 : f64
    %23 = arith.subf %18, %22 : f64
    affine.store %23, %C[%k + 2, %k] : memref<8x6xf64>
  }
  return
}
"""

SPLIT = """
func.func @f(%A: memref<10x9xf32>, %B: memref<11xf32>) {
  affine.for %k = 1 to 9 step 3 {
    affine.for %j = 1 to 6 {
      affine.for %p = affine_map<(d0) -> (d0 floordiv 2)>(%j) to 3 {
        %b = affine.load %B[%k + 3] : memref<11xf32>
        affine.store %b, %A[%p + 2, 2] : memref<10x9xf32>
      }
    }
  }
  return
}
"""

PIPELINES = (
    (GUARDED, "tile{loops=k sizes=1}"),
    (GUARDED, "strip-mine{loops=k size=1}"),
    (GUARDED, "tile{loops=k sizes=2}"),
    (GUARDED, "tile{loops=k sizes=40}"),
    (GUARDED, "tile{loops=k sizes=2},tile{loops=kt sizes=1}"),
    (GUARDED, "tile{loops=k sizes=T}"),
    (GUARDED, "strip-mine{loops=k size=1},unroll{loops=k factor=2}"),
    (LARGER, "tile{loops=k sizes=1},reverse{loops=k}"),
    (SPLIT, "tile{loops=k sizes=2},split{loops=j at=k}"),
    (SPLIT, "tile{loops=k sizes=1},split{loops=j at=k}"),
    (SPLIT, "tile{loops=k sizes=3},split{loops=j at=k+1}"),
)
SHAPES = {
    GUARDED: (("int32", (12,)), ("int32", (12,))),
    LARGER: (("float64", (9,)), ("float64", (4, 7)), ("float64", (8, 6))),
    SPLIT: (("float32", (10, 9)), ("float32", (11,))),
}


@pytest.mark.parametrize(("text", "pipeline"), PIPELINES)
def test_code_does_what_the_loops_as_written_do(text: str, pipeline: str) -> None:
    function = load(text)["f"]
    outcomes: list[list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]] = []
    for schedule in (None, pipeline):
        source = np.random.default_rng(0)
        arguments = [source.integers(-9, 9, shape).astype(kind) for kind, shape in SHAPES[text]]
        kernel = function.compile(schedule, threads=1)
        kernel(*arguments, **({"T": 2} if schedule and "=T" in schedule else {}))
        outcomes.append(arguments)
    for one, other in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(one, other)


def variant(modulus: int, divisor: int, step: int, first: int) -> str:
    """The guarded nest with other numbers, of a loop that begins at `first`."""
    return f"""
func.func @f(%n: index, %A: memref<?x?xi32>, %C: memref<?xi32>) {{
  %one = arith.constant 1 : i32
  affine.for %k = {first} to %n {{
    affine.for %p = affine_map<(d0) -> (-(d0 floordiv {divisor}))>(%k)
                 to affine_map<(d0) -> (d0 floordiv {divisor} + 2)>(%k) step {step} {{
      affine.if affine_set<(d0) : (d0 mod {modulus} - {modulus - 1} == 0)>(%k) {{
        affine.store %one, %A[%k, %p] : memref<?x?xi32>
      }}
    }}
    affine.store %one, %C[%k] : memref<?xi32>
  }}
  return
}}
"""


STEPS = (
    "tile{loops=k sizes=1}",
    "tile{loops=k sizes=2}",
    "tile{loops=k sizes=100}",
    "strip-mine{loops=k size=1},reverse{loops=k}",
    "tile{loops=k sizes=4},strip-mine{loops=k size=2}",
    "tile{loops=k sizes=1},tile{loops=kt sizes=3}",
    "distribute{loops=k},tile{loops=S0.k,S0.p sizes=1,2}",
    "distribute{loops=k},skew{loops=S0.k,S0.p factors=1},tile{loops=S0.p sizes=2}",
    "distribute{loops=k},tile{loops=S0.k,S0.p sizes=2,1},wavefront{loops=kt,pt factors=1,1}",
    "distribute{loops=k},diamond{loops=S0.k,S0.p size=2}",
    "distribute{loops=k},split{loops=S0.p at=0},tile{loops=S0.k sizes=2}",
    "distribute{loops=k},tile{loops=S0.k,S0.p sizes=1,1},interchange{loops=kt,pt}",
    "distribute{loops=k},tile{loops=S0.k sizes=2},fuse{loops=S0.kt,S1.k}",
    "unroll-and-jam{loops=k factor=2}",
)


@pytest.mark.parametrize("pipeline", STEPS)
def test_other_moduli_steps_and_ranges(pipeline: str) -> None:
    for modulus, divisor, step in itertools.product((2, 3), (2, 3), (3, 4)):
        for first, size in ((1, 6), (-5, 4), (3, 2)):
            schedule = load(variant(modulus, divisor, step, first))["f"].schedule(pipeline)
            for symbolic in (False, True):
                found = executed(schedule, {"n": size}, symbolic=symbolic)
                note = f"{variant(modulus, divisor, step, first)}{pipeline} {size} {symbolic}"
                assert found == expected(schedule, {"n": size}), note
