"""Regions of C files as text: loops, types, variables, conditions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.frontends.c.c_file import read_regions, read_source
from loopwright.frontends.c.translate import Translation


def translated(folder: Path, text: str, *flags: str) -> list[Translation]:
    path = folder / "file.c"
    path.write_text(text)
    return read_regions(read_source(path), flags).translations


def region(folder: Path, parameters: str, body: str) -> str:
    """The text of a region in a function of its own."""
    text = f"#include <math.h>\n#include <stdlib.h>\nvoid f({parameters}) {{\n"
    text += f"#pragma scop\n{body}\n#pragma endscop\n}}\n"
    (found,) = translated(folder, text)
    return found.text


LOOPS = {
    "for (int i = 2; i < n; i++)": ("affine.for %i = 2 to %n {", "%A[%i]"),
    "for (int i = 0; i <= n; ++i)": ("to affine_map<()[s0] -> (s0 + 1)>()[%n] {", "%A[%i]"),
    "for (int i = 0; i + 2 < n; i++)": ("to affine_map<()[s0] -> (s0 - 2)>()[%n] {", "%A[%i]"),
    "for (int i = 0; m >= 1 + i && i - 3 < n; i++)": (
        "affine.for %i = 0 to min affine_map<()[s0, s1] -> (s0, s1 + 3)>()[%m, %n] {",
        "%A[%i]",
    ),
    "for (unsigned i = 1; i + 1 < (unsigned)n; i++)": (
        "affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {",
        "%A[%i]",
    ),
    "for (int i = 0; n > i; i += 3)": ("affine.for %i = 0 to %n step 3 {", "%A[%i]"),
    "for (int i = 0; i != n; i = 1 + i)": ("affine.for %i = 0 to %n {", "%A[%i]"),
    "for (int i = n - 1; i >= 0; i--)": (
        "affine.for %i = 0 to %n {",
        "%A[symbol(%n) - %i - 1]",
    ),
    "for (int i = n; i > m; i -= 2)": (
        "affine.for %i = 0 to affine_map<()[s0, s1] -> (((s0 - s1) ceildiv 2))>()[%n, %m] {",
        "%A[symbol(%n) - %i * 2]",
    ),
    "for (int i = 0; i < n && i < m; i++)": (
        "to min affine_map<()[s0, s1] -> (s0, s1)>()[%n, %m] {",
        "%A[%i]",
    ),
    "for (int i = n > m ? n : m; i < 99; i++)": (
        "affine.for %i = max affine_map<()[s0, s1] -> (s0, s1)>()[%n, %m] to 99 {",
        "%A[%i]",
    ),
    "for (int i = 0; i < (n < 9 ? n : 9); i++)": (
        "to min affine_map<()[s0] -> (s0, 9)>()[%n] {",
        "%A[%i]",
    ),
}


@pytest.mark.parametrize("head", LOOPS)
def test_loops(tmp_path: Path, head: str) -> None:
    text = region(tmp_path, "int n, int m, double A[n]", f"{head} A[i] = 1;")
    for part in LOOPS[head]:
        assert part in text


@pytest.mark.parametrize(
    ("condition", "texts"),
    [
        ("i > 2", ["affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) {"]),
        ("i == n - 1", ["(d0 - s0 + 1 == 0)>(%i)[%n]"]),
        ("!(i < 2) && i < n - 2", ["(d0 - 2 >= 0, s0 - d0 - 3 >= 0)>(%i)[%n] {"]),
        ("i % 2", ["affine.if"]),
        ("(i & 1) == 0", ["((d0) mod 2) == 0"]),
        ("A[i] > 0", ["arith.cmpf ogt", "arith.select"]),
        ("i > 2 && A[i]", ["affine.if", "arith.cmpf une", "arith.select"]),
    ],
)
def test_conditions(tmp_path: Path, condition: str, texts: list[str]) -> None:
    body = f"for (int i = 0; i < n; i++) if ({condition}) A[i] = 1;"
    text = region(tmp_path, "int n, double A[n]", body)
    assert all(each in text for each in texts)


@pytest.mark.parametrize(
    ("kind", "value", "texts"),
    [
        ("unsigned char", "a[i] + b[i]", ["arith.extui", "arith.addi", "arith.trunci"]),
        ("signed char", "a[i] >> 1", ["arith.extsi", "arith.shrsi"]),
        ("unsigned", "a[i] / b[i]", ["arith.divui"]),
        ("int", "a[i] % b[i]", ["arith.remsi"]),
        ("unsigned", "a[i] >> 3", ["arith.shrui"]),
        ("unsigned", "a[i] < b[i]", ["cmpi ult"]),
        ("long", "a[i] < b[i]", ["cmpi slt"]),
        ("unsigned long", "(double)a[i]", ["arith.uitofp", "arith.fptoui"]),
        ("int", "a[i] < b[i] ? b[i] : a[i]", ["arith.maxsi"]),
        ("unsigned", "a[i] < b[i] ? a[i] : b[i]", ["arith.minui"]),
        ("float", "a[i] * 2.0", ["arith.extf", "arith.mulf", "arith.truncf"]),
        ("float", "sqrtf(a[i]) + fmaxf(a[i], b[i])", ["math.sqrt", "arith.maxnumf"]),
        ("double", "pow(fabs(a[i]), 2) + isnan(b[i])", ["math.powf", "math.absf", "math.isnan"]),
        ("int", "~a[i] ^ -b[i]", ["arith.xori", "arith.subi"]),
        ("int", "abs(a[i])", ["math.absi"]),
        ("float", "lrintf(a[i])", ["math.roundeven", "arith.fptosi", "to i64"]),
        ("double", "llround(a[i]) + lrint(b[i])", ["math.round ", "math.roundeven", "to i64"]),
    ],
)
def test_operators_of_types(tmp_path: Path, kind: str, value: str, texts: list[str]) -> None:
    parameters = f"int n, {kind} a[n], {kind} b[n]"
    text = region(tmp_path, parameters, f"for (int i = 0; i < n; i++) a[i] = {value};")
    assert all(each in text for each in texts)


def test_arguments_are_those_of_c_then_globals_and_locals(tmp_path: Path) -> None:
    text = """
#define N 20
typedef float real;
static real G[N][N];
double f(int n, double scale, real A[N][N], const unsigned char *restrict q, int shift) {
  double sum = 0;
  int i;
#pragma scop
  for (i = 0; i < n; i++) { A[i][0] += scale * q[i] + (G[i][1] + shift); sum += A[i][0]; }
#pragma endscop
  return sum;
}
"""
    (found,) = translated(tmp_path, text)
    assert [(each.name, each.mlir) for each in found.parameters] == [
        ("n", "index"),
        ("scale", "f64"),
        ("A", "memref<?x20xf32>"),
        ("q", "memref<?xi8>"),
        ("shift", "i32"),
        ("G", "memref<20x20xf32>"),
        ("sum", "memref<f64>"),
    ]


def test_variables_live_where_they_are_used(tmp_path: Path) -> None:
    text = """
void f(int n, double A[n][n]) {
  double t, w;
  int i, j;
#pragma scop
  for (i = 0; i < n; i++) {
    t = 2 * A[i][0];
    w = 0;
    for (j = 0; j < n; j++) w += t * A[i][j];
    A[i][0] = w;
  }
#pragma endscop
}
"""
    (found,) = translated(tmp_path, text)
    lines = [line.strip() for line in found.text.splitlines()]
    assert lines.count("%w = memref.alloca() : memref<f64>") == 1
    assert lines.index("%w = memref.alloca() : memref<f64>") == 4  # in the loop i
    assert "%t" not in found.text  # assigned once: a value
    assert [each.name for each in found.parameters] == ["n", "A"]


def test_unsigned_sizes_have_assumptions(tmp_path: Path) -> None:
    text = region(
        tmp_path,
        "unsigned n, double A[n]",
        "for (unsigned i = 1; i < n - 1; i++) A[i] = A[i - 1];",
    )
    assert "attributes {loopwright.assume = affine_set<(d0) : (d0 >= 0, d0 - 1 >= 0)>}" in text
    kernel = loopwright.load(text)["f"].compile(None)
    values = np.arange(5.0)
    kernel(5, values)
    assert values.tolist() == [0, 0, 0, 0, 4]
    with pytest.raises(loopwright.errors.BoundsError, match="n - 1 >= 0 only, but n=0"):
        kernel(0, values)


def test_unsigned_comparisons_wrap(tmp_path: Path) -> None:
    body = "for (unsigned i = 0; i < n; i++) if (i - 1 < 2) A[i] = 1;"
    text = region(tmp_path, "unsigned n, double A[n]", body)
    assert "arith.cmpi ult" in text  # 0 - 1 is the largest number


@pytest.mark.parametrize(
    ("subscript", "texts"),
    [
        ("i * n + j", ["%A[%i, %j]", "memref<?x?xf64>"]),
        ("j + (i + 1) * n - n", ["%A[%i, %j]"]),
        ("(i * n + j) * n + 2", ["%A[%i, %j, 2]", "memref<?x?x?xf64>", "s0"]),
        ("(n - 1) * n + j", ["%A[symbol(%n) - 1, %j]"]),
    ],
)
def test_flat_arrays_have_rows(tmp_path: Path, subscript: str, texts: list[str]) -> None:
    body = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[{subscript}] = 1;"
    text = region(tmp_path, "int n, double *A", body)
    assert all(each in text or each == "s0" for each in texts)


def test_flat_arrays_whose_rows_may_overlap_are_for_some_sizes(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i * n + j] = 1;"
    assert "(d0 - d1 >= 0)" in region(tmp_path, "int n, int m, double *A", body)


def test_macros_headers_and_flags(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("#define ROWS (2 * N)\nenum { COLUMNS = 3 };\n")
    text = """
#include "sizes.h"
void f(double A[ROWS][COLUMNS]) {
#pragma scop
  for (int i = 0; i < ROWS; i++) for (int j = 0; j < COLUMNS; j++) A[i][j] = ROWS;
#pragma endscop
}
"""
    (found,) = translated(tmp_path, text, "-DN=5")
    assert "affine.for %i = 0 to 10" in found.text and "memref<?x3xf64>" in found.text


def test_functions_of_one_expression_are_inlined(tmp_path: Path) -> None:
    text = """
static inline double square(double x) { return x * x; }
void f(int n, double A[n]) {
#pragma scop
  for (int i = 0; i < n; i++) A[i] = square(A[i] + 1);
#pragma endscop
}
"""
    (found,) = translated(tmp_path, text)
    assert found.text.count("arith.addf") == 1 and found.text.count("arith.mulf") == 1


def test_pointers_to_rows_are_the_rows(tmp_path: Path) -> None:
    body = """
  for (int i = 1; i < n; i++) {
    double *row = A[i];
    const double *above = A[i - 1] + 1, *b = &B[i * n];
    for (int j = 1; j < n; j++) { row[j] = above[j - 1]; *(row + j) += b[j]; }
  }"""
    text = region(tmp_path, "int n, double A[n][n], double *B", body)
    for part in ("load %A[%i - 1, %j]", "load %B[%i, %j]", "store %0, %A[%i, %j]"):
        assert part in text


def test_members_of_structures_are_variables(tmp_path: Path) -> None:
    text = """
struct grid { struct { int rows, columns; } size; double *p, w[4], sum; };
void f(struct grid *g) {
#pragma scop
  g->sum = 0;
  for (int i = 0; i < g->size.rows; i++)
    for (int j = 0; j < g->size.columns; j++)
      g->sum += g->p[i * g->size.columns + j] * g->w[j % 4];
#pragma endscop
}
"""
    (found,) = translated(tmp_path, text)
    assert [(each.name, each.mlir, each.symbol.spelling) for each in found.parameters] == [
        ("g_sum", "memref<f64>", "g->sum"),
        ("g_size_rows", "index", "g->size.rows"),
        ("g_size_columns", "index", "g->size.columns"),
        ("g_p", "memref<?x?xf64>", "g->p"),
        ("g_w", "memref<4xf64>", "g->w"),
    ]
    assert "affine.load %g_p[%i, %j]" in found.text


def test_continue_is_the_other_branch(tmp_path: Path) -> None:
    body = """
  for (int i = 0; i < n; i++) {
    if (i == 3) continue;
    A[i] = 1;
    if (i > 5) { A[i] = 2; continue; } else A[i] = 3;
    A[i] = 4;
  }"""
    text = region(tmp_path, "int n, double A[n]", body)
    values = np.zeros(8)
    loopwright.load(text)["f"].compile(None)(8, values)
    assert values.tolist() == [4, 4, 4, 0, 4, 4, 2, 2]


def test_static_variables_keep_their_values(tmp_path: Path) -> None:
    text = """
void f(int n, double A[n]) {
  static double last;
  double next;
  for (int i = 0; i < n; i++) { last = A[i]; next = 2 * last; A[i] = next; }
}
"""
    (found,) = translated(tmp_path, text)
    assert [each.mlir for each in found.parameters] == ["index", "memref<?xf64>", "memref<f64>"]


def test_names_are_apart_from_those_of_constants(tmp_path: Path) -> None:
    body = """
  for (int c = 0; c < n; c++) {
    A[c] = 1.5;
    for (int c = 0; c < 2; c++) A[c] += 2.5 + c;
  }"""
    text = region(tmp_path, "int n, double A[n]", body)
    values = np.zeros(4)
    loopwright.load(text)["f"].compile(None)(4, values)
    assert values.tolist() == [11.5, 12.0, 1.5, 1.5]


def test_branches_of_a_choice_know_their_condition(tmp_path: Path) -> None:
    body = "for (unsigned i = 0; i < n; i++) A[i] = i > 0 ? B[i - 1] : B[i + 1];"
    text = region(tmp_path, "unsigned n, double A[n], const double B[n]", body)
    assert "affine.load %B[%i - 1]" in text


def test_elements_may_be_sizes(tmp_path: Path) -> None:
    text = """
static int grid[3];
void f(double A[20][20]) {
#pragma scop
  for (int i = 1; i < grid[0] - 1; i++)
    for (int j = 0; j < grid[1]; j++) A[i][j] = grid[2] * A[i - 1][j];
#pragma endscop
}
"""
    (found,) = translated(tmp_path, text)
    assert [(each.name, each.mlir, each.symbol.spelling) for each in found.parameters] == [
        ("A", "memref<?x20xf64>", "A"),
        ("grid", "memref<3xi32>", "grid"),
        ("grid_0", "index", "grid[0]"),
        ("grid_1", "index", "grid[1]"),
    ]
    assert "to affine_map<()[s0] -> (s0 - 1)>()[%grid_0]" in found.text
    written = text.replace("A[i][j] =", "grid[1] = A[i][j] =")
    with pytest.raises(
        loopwright.errors.SourceError, match="may change its bound: it assigns 'grid'"
    ):
        translated(tmp_path, written)
