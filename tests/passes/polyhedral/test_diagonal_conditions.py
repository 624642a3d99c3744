"""Values that differ on a diagonal are selects; other affine conditions stay."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import loopwright

TEXT = """
func.func @f(%n: index, %x: memref<?xf64>, %k: memref<?x?xi32>, %y: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  %c7 = arith.constant 7 : i32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %a = affine.load %x[%i] : memref<?xf64>
      %b = affine.load %x[%j] : memref<?xf64>
      %q = affine.load %k[%i, %j] : memref<?x?xi32>
      %d = arith.subf %a, %b : f64
      %v = affine.if affine_set<(d0, d1)[s0] : (CONDITION)>(%i, %j)[%n] -> f64 {
        affine.yield %zero : f64
      } else {
        OTHER
        affine.yield %o : f64
      }
      affine.store %v, %y[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""
RATIO = "%o = arith.divf %b, %d : f64"
QUOTIENT = "%e = arith.divsi %c7, %q : i32\n%o = arith.sitofp %e : i32 to f64"
NEIGHBOUR = "%o = affine.load %x[%i + %j] : memref<?xf64>"

DIAGONALS = {
    "d0 - d1 == 0": lambda i, j, n: i == j,
    "d1 - d0 - 2 == 0": lambda i, j, n: j == i + 2,
    "d0 + d1 - s0 + 1 == 0": lambda i, j, n: i + j == n - 1,
    "d0 - d1 >= 0, d1 - d0 >= 0": lambda i, j, n: i == j,
}
OTHERS = {
    "d0 == 0": lambda i, j, n: (i == 0) & (j >= 0),
    "d0 - d1 >= 0": lambda i, j, n: i >= j,
    "d0 - d1 >= 0, d1 - d0 + 1 >= 0": lambda i, j, n: (i >= j) & (j >= i - 1),
}


def program(condition: str, other: str = RATIO) -> loopwright.Function:
    return loopwright.load(TEXT.replace("CONDITION", condition).replace("OTHER", other))["f"]


@pytest.mark.parametrize("schedule", [None, "vectorize{loops=i width=8}", "default"])
@pytest.mark.parametrize("condition", [*DIAGONALS, *OTHERS])
def test_values_on_a_diagonal(condition: str, schedule: str | None) -> None:
    f = program(condition)
    assert (len(f.scop.statements) == 1) == (condition in DIAGONALS)
    kernel = f.compile(schedule, threads=1)
    for n in (1, 2, 9, 37):
        x, y, k = np.random.rand(n), np.zeros((n, n)), np.ones((n, n), "i4")
        kernel(n, x, k, y)
        i, j = np.indices((n, n))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = x[j] / (x[i] - x[j])
        holds = {**DIAGONALS, **OTHERS}[condition](i, j, n)
        np.testing.assert_array_equal(y, np.where(holds, 0.0, ratio))


def test_what_may_not_run_on_the_diagonal_stays_in_its_branch() -> None:
    for other in (QUOTIENT, NEIGHBOUR):
        f = program("d0 - d1 == 0", other)
        assert len(f.scop.statements) > 1
        n = 9
        x, y = np.random.rand(2 * n - 2), np.zeros((n, n))
        quotients = np.where(np.eye(n), 0, 2).astype("i4")
        f.compile("default", threads=1)(n, x, quotients, y)  # x has no element 2 * n - 2.
        i, j = np.indices((n, n))
        values = 3.0 if other is QUOTIENT else np.append(x, 0)[i + j]
        np.testing.assert_array_equal(y, np.where(i == j, 0.0, values))


CUT_OFF = """
#define real TYPE
void f(int n, real x[n], real y[n], real r, real fx[n]) {
  for (int ROW = 0; ROW < n; ROW++) {
    real a = 0;
    for (int COLUMN = 0; COLUMN < n; COLUMN++) {
      real dx = x[ROW] - x[COLUMN], dy = y[ROW] - y[COLUMN];
      real d = dx * dx + dy * dy;
      if (d < r && COLUMN != ROW) a += dx / d;
    }
    fx[ROW] = a;
  }
}
"""


@pytest.mark.parametrize(("kind", "names"), [("float", "ij"), ("double", "ji"), ("float", "pq")])
def test_interactions_have_lanes_along_particles(
    zen3: None, tmp_path: Path, kind: str, names: str
) -> None:
    text = CUT_OFF.replace("TYPE", kind).replace("ROW", names[0]).replace("COLUMN", names[1])
    file = tmp_path / "f.c"
    file.write_text(text)
    f = loopwright.load(file)["f"]
    for n in (300, 701, 2000):
        schedule = str(f.default_schedule({"n": n}, threads=1))
        assert re.search(rf"vectorize{{loops=(S1\.)?{names[0]} ", schedule)
    x, y = (np.random.rand(37).astype("f4" if kind == "float" else "f8") for _ in range(2))
    found = [np.zeros_like(x) for _ in range(2)]
    for schedule, result in zip((None, f"vectorize{{loops={names[0]}}}"), found, strict=True):
        f.compile(schedule, threads=1)(37, x, y, 0.2, result)
    np.testing.assert_array_equal(*found)
