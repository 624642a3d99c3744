"""Sweeps with a row in each lane make their vectors in registers, and results do not change."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from support.sweep_programs import KINDS, Sweep, assert_same, random_sweep
from support.targets import NARROW, WIDE

import loopwright
from loopwright.lowering.generate import generate
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

NINE = Sweep("f64", tuple(("A", rows, columns) for rows in (-1, 0, 1) for columns in (-1, 0, 1)))
ALIGNMENT = Sweep("i32", (("A", 0, -1), ("A", -1, -1), ("A", -1, 0)))


def in_lanes(function: Function, width: int, lag: int, target: Target | None = None) -> Schedule:
    """Rows in the lanes of vectors, each `lag` columns behind the one before."""
    return function.schedule(
        f"skew{{loops=i,j factors={lag}}},strip-mine{{loops=i size={width}}},"
        f"interchange{{loops=j,i}},vectorize{{loops=i width={width}}},unroll{{loops=i}}",
        target,
    )


def blocks(schedule: Schedule, n: int = 150, m: int = 400) -> list[str]:
    """The loops over blocks of iterations, as text."""
    sizes = {"steps": 2, "n": n, "m": m}
    sizes |= {f"{array}_dim{k}": size for array in "AB" for k, size in enumerate((n, m))}
    parts = str(generate(schedule, sizes)).split("affine.for")
    return [part for part in parts if "vector.shuffle" in part]


@pytest.mark.parametrize(("target", "block"), [(WIDE, 8), (NARROW, 4)])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("upwards", [False, True])
@pytest.mark.parametrize("leftwards", [False, True])
def test_a_block_is_loaded_and_stored_once(
    target: Target, block: int, count: int, upwards: bool, leftwards: bool
) -> None:
    sweep = replace(NINE, upwards=upwards, leftwards=leftwards)
    loops = blocks(in_lanes(sweep.function, block * count, 2, target))
    assert loops
    for loop in loops:
        assert loop.count("vector.gather") == block, "what the lanes have not loaded or computed"
        assert loop.count("vector.scatter") == block
        assert loop.count("vector.shuffle") == 2 * block, "the rows above and below"
        assert loop.count("affine.load") == 2 * block, "the rows at the border"


def test_new_values_are_not_loaded() -> None:
    for loop in blocks(in_lanes(ALIGNMENT.function, 16, 1, WIDE)):
        assert "vector.gather" not in loop
        assert loop.count("vector.shuffle") == 16


@pytest.mark.parametrize(
    "sweep",
    [
        Sweep("f64", (("A", 0, -1), ("A", -2, 0))),
        Sweep("i16", (("A", 0, -1), ("A", -1, 0), ("A", 0, 2))),
    ],
)
def test_others_are_left_alone(sweep: Sweep) -> None:
    """Rows further away than a lane, and vectors that are not transposed in registers."""
    assert not blocks(in_lanes(sweep.function, 64 if sweep.kind == "i16" else 8, 3, WIDE))


def test_short_rows_are_left_alone() -> None:
    assert not blocks(in_lanes(NINE.function, 8, 2, WIDE), m=40)


@pytest.mark.parametrize("sweep", [NINE, ALIGNMENT])
@pytest.mark.parametrize("width", [4, 8, 16, 32])
@pytest.mark.parametrize("backwards", [False, True])
def test_odd_sizes(sweep: Sweep, width: int, backwards: bool) -> None:
    function = replace(sweep, upwards=backwards, leftwards=backwards).function
    schedule = in_lanes(function, width, 2)
    for sizes in ((2, 37, 301), (1, 71, 1030), (3, 9, 12), (1, 40, 95), (0, 9, 12)):
        assert_same(function, schedule, sweep.kind, sizes)


@pytest.mark.parametrize("seed", range(24))
def test_random_sweeps(seed: int) -> None:
    sweep, draw = random_sweep(seed), random.Random(seed)
    function = sweep.function
    for lag in (1, 2, 3, 4):
        try:
            schedule = in_lanes(function, draw.choice((4, 8, 16, 32)), lag)
        except TransformationError:
            continue
        for _ in range(2):
            sizes = draw.randint(1, 2), draw.randint(6, 90), draw.randint(280, 700)
            assert_same(function, schedule, sweep.kind, sizes)
        return
    pytest.fail("its rows depend on each other, however far they are apart: draw another one")


@pytest.mark.parametrize("kind", list(KINDS))
def test_another_matrix(kind: str) -> None:
    terms = (("A", 0, -1), ("A", -1, 1), ("B", 0, 0), ("A", 1, 0), ("B", 1, -1))
    function = Sweep(kind, terms).function
    for width in (8, 16):
        assert_same(function, in_lanes(function, width, 2), kind, (2, 61, 533))


LAST = """
func.func @f(%n: index, %m: index, %c: memref<?xf64>, %A: memref<?x?xf64>, %S: memref<?x?xf64>) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %m {
      %u = affine.load %S[%i - 1, %j - 1] : memref<?x?xf64>
      %l = affine.load %S[%i, %j - 1] : memref<?x?xf64>
      %b = affine.load %c[%i] : memref<?xf64>
      %a = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = arith.addf %b, %a : f64
      %2 = arith.maximumf %1, %u : f64
      %3 = arith.maximumf %2, %l : f64
      affine.store %3, %S[%i, %j] : memref<?x?xf64>
      affine.store %3, %c[%i] : memref<?xf64>
    }
  }
  return
}
"""


def test_what_was_stored_last_begins_elsewhere() -> None:
    """The last value of a row is in two places, which differ before the row begins."""
    function = loopwright.load(LAST)["f"]
    schedule = in_lanes(function, 8, 1)
    for n, m in ((20, 300), (41, 333)):
        planes = np.random.default_rng(n).normal(size=(2, n, m))
        expected, actual = ([np.ones(n), *planes.copy()] for _ in range(2))
        function.compile(None)(n, m, *expected)
        function.compile(schedule)(n, m, *actual)
        for one, other in zip(expected, actual, strict=True):
            np.testing.assert_array_equal(one, other)


BLOCKS = """
func.func @f(%t: index, %m: index, %A: memref<?x?xf64>) {
  affine.for %s = 0 to %t {
    affine.for %i = 0 to %m {
      affine.for %j = 1 to 64 {
        %0 = affine.load %A[%s, 64 * %i + %j - 1] : memref<?x?xf64>
        %1 = affine.load %A[%s, 64 * %i + %j] : memref<?x?xf64>
        %2 = arith.addf %0, %1 : f64
        affine.store %2, %A[%s, 64 * %i + %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("blocks", [1, 8, 11])
def test_rows_of_blocks_in_an_array_of_unknown_shape(blocks: int) -> None:
    steps = "interchange{loops=i,j},vectorize{loops=i width=8}"
    function = loopwright.load(BLOCKS)["f"]
    generate(function.schedule(steps), {})
    found, expected = (np.arange(3.0 * 64 * blocks).reshape(3, 64 * blocks) for _ in range(2))
    function.compile(steps)(3, blocks, found)
    function.compile(None)(3, blocks, expected)
    np.testing.assert_array_equal(found, expected)
