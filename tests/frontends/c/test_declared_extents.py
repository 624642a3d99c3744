"""Extents of arrays in C files: as declared, where subscripts depend on data or are products."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.cli import main
from loopwright.passes.polyhedral.bounds import BoundsError
from loopwright.passes.polyhedral.extents import infer_extents

EXTENTS = {
    "rows": (
        "int h, int w, double a[h][w], int m, const int *x, double *s",
        "for (int i = 0; i < m; i++) for (int j = 0; j < w; j++) s[j] += a[x[i]][j];",
        {"h": 11, "w": 7, "m": 5},
        {"a_dim0": 11, "a_dim1": 7, "x_dim0": 5, "s_dim0": 7},
    ),
    "sums of sizes": (
        "int n, int m, const int *x, const float t[2 * m + 1][3], float *y",
        "for (int i = 0; i < n; i++) y[i] = t[x[i]][1];",
        {"n": 9, "m": 4},
        {"t_dim0": 9},
    ),
    "constants": (
        "int n, const unsigned *x, const float t[300], float *y",
        "for (int i = 0; i < n; i++) y[i] = t[x[i]];",
        {"n": 9},
        {"t_dim0": 300},
    ),
    "stores": (
        "int n, int h, int w, const int *x, double a[h][w]",
        "for (int i = 0; i < n; i++) a[x[i]][x[i] % 5] += 1;",
        {"n": 9, "h": 20, "w": 6},
        {"a_dim0": 20, "a_dim1": 6},
    ),
    "bytes": (
        "int n, const unsigned char *x, const float *t, float *y",
        "for (int i = 0; i < n; i++) y[i] = t[x[i]];",
        {"n": 9},
        {"t_dim0": 256},
    ),
    "packed triangle": (
        "int n, double p[n * (n + 1) / 2], double *y",
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) y[i] += p[i * (i + 1) / 2 + j];",
        {"n": 10},
        {"p_dim0": 55, "y_dim0": 10},
    ),
    "packed triangle, written": (
        "int n, double *p",
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) p[i * (i + 1) / 2 + j] *= 2;",
        {"n": 10},
        {"p_dim0": 55},
    ),
    "remainder by a size": (
        "int n, int m, double *p, double *y",
        "for (int i = 0; i < n; i++) y[i] += p[(i * i) & 15];",
        {"n": 10},
        {"p_dim0": 16},
    ),
}


@pytest.mark.parametrize("name", EXTENTS)
def test_extents_that_follow(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parameters, body, sizes, expected = EXTENTS[name]
    path = tmp_path / "file.c"
    path.write_text(f"void f({parameters}) {{ {body} }}\n")
    scop = loopwright.load(path)["f"].scop
    found = infer_extents(scop, sizes)
    assert {each: found.get(each) for each in expected} == expected
    values = [part for size, value in sizes.items() for part in ("-s", f"{size}={value}")]
    assert main(["run", str(path), *values, "--seconds", "0.01", "-q"]) == 0
    assert capsys.readouterr().err == ""


UNKNOWN = {
    "assigned sizes": (
        "int n, int m, const int *x, const float t[m], float *y",
        "m = m / 2;\nfor (int i = 0; i < m; i++) y[i] = t[x[i]];",
    ),
    "pointers": (
        "int n, const int *x, const float *t, float *y",
        "for (int i = 0; i < n; i++) y[i] = t[x[i]];",
    ),
    "products that may be negative": (
        "int n, const float *t, float *y",
        "for (int i = 0; i < n; i++) y[i] = t[i * (i - 1)];",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_extents_that_are_to_be_given(name: str, tmp_path: Path) -> None:
    parameters, body = UNKNOWN[name]
    path = tmp_path / "file.c"
    path.write_text(f"void f({parameters}) {{ {body} }}\n")
    scop = loopwright.load(path)["f"].scop
    assert "t_dim0" not in infer_extents(scop, {"n": 9, "m": 9})


def test_shorter_arrays_than_declared_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.c"
    path.write_text(
        "void f(int n, int m, const int *x, const double t[m], double *y) {\n"
        "    for (int i = 0; i < n; i++) y[i] = t[x[i]];\n}\n"
    )
    kernel = loopwright.load(path)["f"].compile("")
    x, y = np.array([3, 0, 2], np.int32), np.zeros(3)
    kernel(3, 4, x, np.arange(6.0), y)
    assert y.tolist() == [3, 0, 2]
    with pytest.raises(BoundsError, match="t_dim0"):
        kernel(3, 4, x, np.arange(3.0), y)
