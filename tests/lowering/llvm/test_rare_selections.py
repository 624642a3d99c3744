"""Selections in the case of NaN are made behind a branch, where they take much to compute."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright

PROGRAM = """
func.func @f(%n: index, %x: memref<?xf64>, %y: memref<?xf64>) {{
  %one = arith.constant 1.0 : f64
  %two = arith.constant 2.0 : f64
  affine.for %i = 0 to %n {{
    %0 = affine.load %x[%i] : memref<?xf64>
    %1 = affine.load %y[%i] : memref<?xf64>
    %lost = arith.cmpf uno, %0, %0 : f64
    %large = arith.cmpf ogt, %1, %two : f64
    %both = arith.andi %lost, %large : i1
    %2 = arith.mulf %1, %1 : f64
    %3 = arith.addf %2, %one : f64
    %4 = arith.divf %3, %two : f64
    %5 = arith.mulf %4, %1 : f64
    %6 = arith.subf %5, %one : f64
    %7 = math.sqrt %6 : f64
    %8 = arith.addf %7, %2 : f64
    %9 = arith.select %both, {taken}, %0 : f64
    affine.store %9, %x[%i] : memref<?xf64>
  }}
  return
}}
"""


def values(count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    x, y = random.normal(size=count), 3 * random.random(count)
    x[::5] = np.nan
    x[40:60] = 1.0
    return x, y


@pytest.mark.parametrize("schedule", [None, "vectorize{loops=i width=8}"])
@pytest.mark.parametrize(("taken", "is_rare"), [("%8", True), ("%3", False)])
def test_a_branch(schedule: str | None, taken: str, is_rare: bool) -> None:
    """A branch takes the time of a few operations."""
    kernel = loopwright.load(PROGRAM.format(taken=taken))["f"].compile(schedule, threads=1)
    x, y = values(103)
    square = y * y
    with np.errstate(invalid="ignore"):
        much = np.sqrt((square + 1) / 2 * y - 1) + square
    expected = np.where(np.isnan(x) & (y > 2), much if is_rare else square + 1, x)
    kernel(103, x, y)
    np.testing.assert_allclose(x, expected, rtol=1e-13)
    assert ("rarely" in str(kernel.llvm_ir)) == is_rare


CHAINS = {
    "true": "%10 = arith.mulf %9, %two : f64\n%11 = arith.select %lost, %10, %9 : f64",
    "false": "%11 = arith.select %lost, %two, %9 : f64",
}


@pytest.mark.parametrize("schedule", [None, "vectorize{loops=i width=8}"])
@pytest.mark.parametrize("chain", CHAINS)
def test_selections_that_choose_from_each_other(schedule: str | None, chain: str) -> None:
    text = PROGRAM.format(taken="%8").replace("select %both", "select %lost")
    text = text.replace("    affine.store %9", f"    {CHAINS[chain]}\n    affine.store %11")
    x, y = values(103)
    square = y * y
    with np.errstate(invalid="ignore"):
        much = np.sqrt((square + 1) / 2 * y - 1) + square
    expected = np.where(np.isnan(x), 2 * much if chain == "true" else 2.0, x)
    loopwright.load(text)["f"].compile(schedule, threads=1)(103, x, y)
    np.testing.assert_allclose(x, expected, rtol=1e-13)
