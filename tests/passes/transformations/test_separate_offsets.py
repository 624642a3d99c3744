"""Separation of offsets: the sums of single factors, results, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.scops import schedule_of

import loopwright
from loopwright.passes.polyhedral.descriptions import describe_tree
from loopwright.passes.schedules.errors import MalformedTransformation
from loopwright.passes.transformations.separate_offsets import SeparateOffsets

PRODUCT = """
#include <stdint.h>
void product(int m, int n, int k, LEFT, RIGHT, uint8_t a[m][k], int8_t b[k][n], int32_t c[m][n]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int p = 0; p < k; p++)
        c[i][j] += TERM;
}
"""

CONVOLUTION = """
#include <stdint.h>
void convolution(int h, int w, int c, int q, int32_t z, uint8_t x[h + 2][w + 2][c],
                 int8_t f[q][3][3][c], int32_t bias[q], int32_t y[h][w][q]) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      for (int o = 0; o < q; o++) {
        int32_t s = bias[o];
        for (int u = 0; u < 3; u++)
          for (int v = 0; v < 3; v++)
            for (int p = 0; p < c; p++)
              s += ((int32_t)x[i + u][j + v][p] - z) * (int32_t)f[o][u][v][p];
        y[i][j][o] = s;
      }
}
"""


def from_c(text: str, folder: Path) -> loopwright.Function:
    file = folder / "function.c"
    file.write_text(text)
    (function,) = loopwright.load(file).values()
    return function


def product(
    folder: Path, term: str, left: str = "int32_t u", right: str = "int32_t v"
) -> loopwright.Function:
    text = PRODUCT.replace("TERM", term).replace("LEFT", left).replace("RIGHT", right)
    return from_c(text, folder)


def test_sums_of_factors_are_in_front(tmp_path: Path) -> None:
    function = product(tmp_path, "(a[i][p] - u) * (b[p][j] + v)")
    schedule = function.schedule("separate-offsets{statements=S0}")
    assert describe_tree(schedule.scop, schedule.tree).splitlines() == [
        "for i",
        "  start_a(i): sum_a[i]",
        "for i",
        "  for p",
        "    add_a(i, p): sum_a[i] from a[i, p], sum_a[i]",
        "for j",
        "  start_b(j): sum_b[j]",
        "for j",
        "  for p",
        "    add_b(j, p): sum_b[j] from b[p, j], sum_b[j]",
        "for i",
        "  for j",
        "    offsets_S0(i, j): c[i, j] from c[i, j], sum_a[i], sum_b[j]",
        "for i",
        "  for j",
        "    for p",
        "      S0(i, j, p): c[i, j] from c[i, j], a[i, p], b[p, j]",
    ]


@pytest.mark.parametrize(
    "steps", ["", ",interchange{loops=S0.i,S0.p,S0.j}", ",vectorize{loops=S0.j}"]
)
@pytest.mark.parametrize(
    ("term", "left", "right"),
    [
        ("(a[i][p] - (i + k)) * (b[p][j] + (n - j))", "int32_t u", "int32_t v"),
        ("(a[i][p] - u) * (b[p][j] - v)", "int32_t u", "int32_t v"),
        ("(a[i][p] + u) * b[p][j]", "int32_t u", "int32_t v"),
        ("(a[i][p] - 128) * (b[p][j] + 3)", "int32_t u", "int32_t v"),
        ("(b[p][j] - v[j]) * (a[i][p] - u[i])", "uint8_t u[m]", "int32_t v[n]"),
        ("(b[p][j] - v[j] * 3) * a[i][p]", "int32_t u", "int8_t v[n]"),
    ],
)
def test_results(term: str, left: str, right: str, steps: str, tmp_path: Path) -> None:
    function = product(tmp_path, term, left, right)
    generator = np.random.default_rng(5)
    for m, n, k in ((5, 7, 9), (1, 1, 1), (3, 2, 0), (17, 33, 20)):
        offsets = [
            np.int32(-(2**31) + 5) if "[" not in each else generator.integers(0, 127, extent)
            for each, extent in ((left, m), (right, n))
        ]
        kinds = [
            np.uint8 if "uint8" in each else np.int8 if "int8" in each else np.int32
            for each in (left, right)
        ]
        offsets = [np.asarray(each).astype(kind) for each, kind in zip(offsets, kinds, strict=True)]
        given = [each if each.ndim else int(each) for each in offsets]
        a = generator.integers(0, 256, (m, k)).astype(np.uint8)
        b = generator.integers(-128, 128, (k, n)).astype(np.int8)
        c = generator.integers(-1000, 1000, (m, n)).astype(np.int32)
        expected = c.copy()
        function.compile("")(m, n, k, *given, a, b, expected)
        pipeline = f"separate-offsets{{statements=S0}}{steps}"
        function.compile(pipeline, verify=True)(m, n, k, *given, a, b, c)
        np.testing.assert_array_equal(c, expected)


def test_a_convolution_with_one_zero_point(tmp_path: Path) -> None:
    function = from_c(CONVOLUTION, tmp_path)
    generator = np.random.default_rng(7)
    x = generator.integers(0, 256, (6, 8, 5)).astype(np.uint8)
    f = generator.integers(-128, 128, (7, 3, 3, 5)).astype(np.int8)
    bias = generator.integers(-9, 9, 7).astype(np.int32)
    expected, y = np.zeros((2, 4, 6, 7), np.int32)
    function.compile("")(4, 6, 5, 7, 119, x, f, bias, expected)
    function.compile("separate-offsets{statements=S1}", verify=True)(4, 6, 5, 7, 119, x, f, bias, y)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        ("a[i][p] * b[p][j]", "no products of short integers with offsets"),
        ("(a[i][p] - u) + (b[p][j] - v)", "no products of short integers with offsets"),
        ("(a[i][p] - p) * b[p][j]", "the same for all that S0 adds"),
        ("(a[i][p] - c[0][0]) * b[p][j]", "no products of short integers with offsets"),
    ],
)
def test_what_is_refused(term: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(MalformedTransformation, match=reason):
        product(tmp_path, term).schedule("separate-offsets{statements=S0}")


def test_offsets_that_move_along_the_sum_are_refused(tmp_path: Path) -> None:
    function = product(tmp_path, "(a[i][p] - u[p]) * b[p][j]", left="int32_t u[k]")
    with pytest.raises(MalformedTransformation, match="the same for all that S0 adds"):
        function.schedule("separate-offsets{statements=S0}")


def test_terms_that_depend_on_the_element_are_refused() -> None:
    text = """
func.func @f(%u: i32, %A: memref<?x8xi8>, %B: memref<8x8xi8>, %C: memref<8x8xi32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
        %a = affine.load %A[%j, %k] : memref<?x8xi8>
        %b = affine.load %B[%j, %k] : memref<8x8xi8>
        %x = arith.extui %a : i8 to i32
        %y = arith.extsi %b : i8 to i32
        %d = arith.subi %x, %u : i32
        %p = arith.muli %d, %y : i32
        %c = affine.load %C[%i, %j] : memref<8x8xi32>
        %s = arith.addi %c, %p : i32
        affine.store %s, %C[%i, %j] : memref<8x8xi32>
      }
    }
  }
  return
}
"""
    with pytest.raises(MalformedTransformation, match="must not depend on the element"):
        schedule_of(text).apply(SeparateOffsets(statements=("S0",)))
