"""Loops along constant tables of subscripts, compared with gcc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

import loopwright

TABLES = """\
static const int dx[4] = {0, 1, 0, -1}, dy[4] = {1, 0, -1, 0};
static const signed char nb[8][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1},
                                     {1, 0}, {1, 1}};
static const struct { int y, x; } dir[4] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
static const double w[4] = {0.5, 0.25, 1.5};
const unsigned char perm[4] = {2, 0, 3, 1};
static const int row[5] = {0, 2, 3, 5, 7};
static int moving[4] = {0, 1, 0, -1};
"""
LOOPS = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
AFFINE = {
    "offsets": f"{LOOPS} for (int k = 0; k < 4; k++) b[i][j] += w[k] * a[i + dy[k]][j + dx[k]];",
    "written": f"{LOOPS} for (int k = 0; k < 4; k++) b[i + dy[k]][j + dx[k]] = a[i][j] + k;",
    "variables": f"{LOOPS} {{ double s = 0; for (int k = 0; k < 4; k++) {{ int y = i + dy[k];"
    " int x = j + dx[k]; s += a[y][x] * w[k]; } b[i][j] = s; }",
    "pairs": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { double s = 0;"
    " for (int k = 0; k < 8; k++) { int y = i + nb[k][0], x = j + nb[k][1];"
    " if (y >= 0 && y < n && x >= 0 && x < m) s += a[y][x]; } b[i][j] = s; }",
    "continue": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " for (int k = 0; k < 4; k++) { int y = i + dy[k]; if (y < 0 || y >= n) continue;"
    " b[i][j] += a[y][j]; }",
    "moments": f"{LOOPS} {{ double u = 0; for (int k = 0; k < 4; k++) u += dx[k] * a[i - 1][j] * k;"
    " for (int k = 0; k < 4; k++) b[i + dy[k]][j + dx[k]] = u * w[k]; }",
    "structures": f"int k; {LOOPS} for (k = 3; k >= 0; k--)"
    " b[i][j] -= a[i + dir[k].y][j + dir[k].x];",
    "outermost": f"for (unsigned k = 0; k < sizeof dx / sizeof dx[0]; k++) {LOOPS}"
    " b[i][j] += a[i + dy[k]][j + dx[3 - k]];",
    "permutation": "for (int i = 0; i < n; i++) for (int k = 0; k < 4; k++)"
    " b[i][k] = a[i][perm[k]] + a[i][perm[3 - k]] + a[i][perm[perm[k]]];",
    "bounds": "for (int k = 0; k < 4; k++) for (int j = row[k]; j < row[k + 1]; j++)"
    " b[0][j] += a[k][j];",
    "loops inside": f"{LOOPS} for (int k = 0; k < 4; k += 2) for (int l = 1; l < 4; l += 2)"
    " { double t[2]; t[0] = a[i + dy[k]][j]; t[1] = a[i][j + dx[l]];"
    " b[i][j] += t[0] * t[1]; }",
}
DATA = {
    "not constant": f"{LOOPS} for (int k = 0; k < 4; k++) b[i][j] += a[i][j + moving[k]];",
    "long": f"{LOOPS} for (int k = 0; k < m; k++) b[i][j] += a[i][j + dx[k & 3]];",
}
UNCHANGED = {
    "weights": f"{LOOPS} for (int k = 0; k < 4; k++) b[i][j] += w[k] * a[i][j];",
    "numbers": f"{LOOPS} for (int k = 0; k < 4; k++) b[i][j] += dx[k] * a[i][j];",
}


def _file(body: str, folder: Path) -> Path:
    path = folder / "f.c"
    path.write_text(
        f"{TABLES}void f(int n, int m, double a[n][m], double b[n][m]) {{\n#pragma scop\n"
        f"    {body}\n#pragma endscop\n    moving[0] += 0 * (perm[0] + row[0] + nb[0][0]);\n}}\n"
    )
    return path


def _arrays(n: int, m: int) -> dict[str, np.ndarray]:
    values = np.random.default_rng(n).standard_normal((2, n, m))
    return {"a": values[0], "b": values[1]}


@pytest.mark.parametrize("name", AFFINE)
def test_offsets_are_affine(name: str, tmp_path: Path) -> None:
    path = _file(AFFINE[name], tmp_path)
    text = str(loopwright.load(path))
    assert "memref.load" not in text and "scf." not in text
    for n, m in ((9, 8), (5, 12)):
        assert_same_as_compiled(path, [(n, m)], lambda n=n, m=m: _arrays(n, m))


@pytest.mark.parametrize("name", DATA)
def test_other_tables_are_data(name: str, tmp_path: Path) -> None:
    assert "memref.load" in str(loopwright.load(_file(DATA[name], tmp_path)))


@pytest.mark.parametrize("name", UNCHANGED)
def test_tables_of_numbers_stay_loops(name: str, tmp_path: Path) -> None:
    assert str(loopwright.load(_file(UNCHANGED[name], tmp_path))).count("affine.for") == 3
