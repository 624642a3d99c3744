"""Which accumulators are prefetched, and that results stay the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.machine_code import MachineCode
from support.targets import WIDE

import loopwright
from loopwright.lowering.generate import generate
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text

# A product of the semiring of minima and sums, added to what is there.
SHORTEST = """
func.func @f(%n: index, %m: index, %A: memref<?x?xi32>, %B: memref<?x?xi32>, %C: memref<?x?xi32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %m {
        %0 = affine.load %C[%i, %j] : memref<?x?xi32>
        %1 = affine.load %A[%i, %k] : memref<?x?xi32>
        %2 = affine.load %B[%k, %j] : memref<?x?xi32>
        %3 = arith.addi %1, %2 : i32
        %4 = arith.minsi %0, %3 : i32
        affine.store %4, %C[%i, %j] : memref<?x?xi32>
      }
    }
  }
  return
}
"""

TARGET = replace(WIDE, caches={1: 1 << 10, 2: 8 << 10, 3: 16 << 10})

TILES = (
    "tile{loops=i,j sizes=2,32},interchange{loops=it,jt,k,i,j},unroll{loops=i,j},"
    "vectorize{loops=j width=16}"
)


def loop_ir(n: int, m: int, schedule: str = TILES) -> str:
    scop = loopwright.load(SHORTEST)["f"].scop
    sizes = {"n": n, "m": m, "C_dim0": n, "C_dim1": n, "A_dim0": n, "A_dim1": m}
    sizes |= {"B_dim0": m, "B_dim1": n}
    return str(generate(apply_text(schedule, Schedule.original(scop, TARGET)), sizes))


def prefetched(text: str) -> list[str]:
    return [
        line.partition("affine.prefetch ")[2].partition(", write")[0]
        for line in text.splitlines()
        if "affine.prefetch" in line
    ]


def test_the_next_tile_is_prefetched_line_by_line() -> None:
    found = prefetched(loop_ir(64, 64))
    assert len(found) == 4
    assert "%C[%it * 2, %jt * 32 + 32]" in found
    assert "%C[%it * 2 + 1, %jt * 32 + 48]" in found


def test_the_innermost_loop_that_moves_the_tile_says_which_is_next() -> None:
    schedule = TILES.replace("it,jt,k", "jt,it,k")
    assert "%C[%it * 2 + 2, %jt * 32]" in prefetched(loop_ir(64, 64, schedule))


@pytest.mark.parametrize(
    ("n", "m", "reason"),
    [
        (32, 64, "the caches hold the array"),
        (64, 16, "there is no time for it"),
        (64, 200, "there is little to gain"),
    ],
)
def test_nothing_is_prefetched_where(n: int, m: int, reason: str) -> None:
    assert not prefetched(loop_ir(n, m)), reason


@pytest.mark.parametrize(("n", "m"), [(64, 64), (64, 50), (67, 33), (97, 96)])
def test_results(n: int, m: int) -> None:
    generator = np.random.default_rng(n + m)
    a, b, c = (generator.integers(-99, 99, shape, np.int32) for shape in ((n, m), (m, n), (n, n)))
    expected = np.minimum(c, (a[:, :, None] + b[None, :, :]).min(axis=1))
    MachineCode(loop_ir(n, m))("f", n, m, a, b, c)
    np.testing.assert_array_equal(c, expected)
