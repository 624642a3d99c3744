"""Loops that end at `break` or `return`, and `continue`: what the C compiler computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_with_jumps

import loopwright

HELPERS = """
static int first(const int *z, int n, int v) {
    for (int i = 0; i < n; i++) if (z[i] == v) return i;
    return -1;
}
static int place(int n, int m, const int *z, int v) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            if (z[i * m + j] > v) return i * m + j;
            if (z[i * m + j] < -v) break;
        }
        if (z[i * m] == 1) continue;
        if (z[i] == 4) return -7;
    }
    return -1;
}
static double up_to(const double *x, int n, double most) {
    double s = 0;
    int i = 0;
    while (i < n) { s += x[i]; if (s > most) break; if (s < -most) return s - 100; i++; }
    return s;
}
"""
BODIES = {
    "search": "for (int i = 0; i < n; i++) if (z[i] == 2) { k = i; break; }",
    "search for the last": "for (int i = n - 1; i >= 0; i--) if (z[i] == 2) { k = i; break; }",
    "variable behind": "int i; for (i = 0; i < n; i++) if (z[i] == 2) break; k = i;",
    "variable of other loops": "int i; for (i = 0; i < n; i++) if (z[i] > 2) break; else x[i] = 1; "
    "for (i = 0; i < n; i++) y[i] += x[i];",
    "sum of what comes before": "for (int i = 0; i < n; i++) { double s = 0; "
    "for (int j = i; j < n; j++) { if (x[j] < 0) break; s += x[j]; } y[i] = s; }",
    "break in both branches": "for (int i = 0; i < n; i++) { if (z[i] > 3) { x[i] = 1; break; } "
    "else if (z[i] < -3) { x[i] = 2; break; } x[i] = 3; y[i] = 4; }",
    "break below a condition": "for (int i = 0; i < n; i++) { if (x[i] > 0) { if (z[i] > 2) break; "
    "y[i] = 1; } x[i] += 2; }",
    "continue below a condition": "for (int i = 0; i < n; i++) { if (x[i] > 0) { y[i] = 2; "
    "if (z[i] > 0) continue; y[i] = 1; } x[i] += 2; }",
    "continue and break": "for (int i = 0; i < n; i++) { if (z[i] < 0) continue; "
    "if (z[i] == 4) break; x[i] += y[i]; }",
    "result that is not used": "for (int i = 0; i < n; i++) { for (int j = 1; j < n; j++) "
    "if (z[j] > -2) break; y[i] = x[i] + z[i]; }",
    "while": "int i = 0; while (i < n) { x[i] *= 2; if (z[i] == 3) break; i++; } k = i;",
    "for ever": "int i = 0; while (1) { if (i >= n) break; x[i] += i; i += 2; } k = i;",
    "no condition": "int i = 0; for (;; i++) { if (i >= n || z[i] == 3) break; x[i] += i; }",
    "condition with data": "int i; for (i = 0; i < n && z[i] != 2; i++) "
    "if (x[i] < -2) break; k = i;",
    "several loops": "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) "
    "{ if (z[j] == z[i] && j != i) { k++; break; } } if (k > 5) break; }",
    "convergence": "for (int t = 0; t < 50; t++) { double e = 0; for (int i = 1; i + 1 < n; i++) "
    "{ double v = 0.5 * (x[i - 1] + x[i + 1]); e += (v - x[i]) * (v - x[i]); y[i] = v; } "
    "for (int i = 1; i + 1 < n; i++) x[i] = y[i]; k++; if (e < 1e-3) break; }",
    "return from a loop": "for (int i = 0; i < n; i++) y[i] = first(z, n, i);",
    "return from a nest": "for (int i = 1; i < 5; i++) k += place(n / 3, 3, z, i);",
    "return and break": "for (int i = 0; i < n; i++) y[i] = up_to(x, i, 1.5);",
}


@pytest.mark.parametrize("name", BODIES)
def test_early_exits(name: str, tmp_path: Path) -> None:
    assert_same_with_jumps(tmp_path / "f.c", BODIES[name], helpers=HELPERS, sizes=(0, 1, 2, 31))


@pytest.mark.parametrize("head", ["for (; i < n; i++)", "for (i = 0, m = n; i < n; i++, m += 2)"])
def test_steps_behind_continue_are_not_skipped(head: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, int m, double *x) {\n    int i = 0;\n#pragma scop\n"
        f"    {head} {{ if (x[i] > 0) {{ if (x[i] < 1) continue; }} x[m] = i; }}\n"
        "#pragma endscop\n}\n"
    )
    with pytest.raises(loopwright.errors.SourceError, match="'continue' is not supported"):
        loopwright.load(path)


def test_nothing_is_read_that_c_does_not_read(tmp_path: Path) -> None:
    """An array without elements, and a subscript behind the end that the condition excludes."""
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, int m, const int *z, const double *x, double *y) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) { if (z[i] < 0 || x[z[i]] > 0) break; "
        "y[i] = z[i] > 0 ? x[z[i] - 1] : 1; if (z[i] > 9) y[i] = x[z[i] - 9]; }\n"
        "for (int i = 0; i < m && z[i] != 3; i++) { if (z[i] == 4) break; y[i] += 2; }\n"
        "#pragma endscop\n}\n"
    )
    kernel = loopwright.load(path)["f"].compile()
    y = np.ones(2)
    kernel(2, 2, np.array([-1, 7], "i4"), np.empty(0), y)
    np.testing.assert_array_equal(y, [3, 3])
    kernel(0, 0, np.empty(0, "i4"), np.empty(0), y)
    kernel(1, 0, np.array([0], "i4"), np.array([-1.0]), y)
    np.testing.assert_array_equal(y, [1, 3])


def test_loops_beside_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "int f(int n, const int *z, double *x) {\n"
        "    for (int i = 0; i < n; i++) x[i] = 2 * x[i] + i;\n"
        "    for (int i = 0; i < n; i++) if (z[i] < 0) return i;\n"
        "    for (int i = 0; i < n; i++) { x[i] += 1; if (z[i] == 7) break; }\n"
        "    return -1;\n}\n"
    )
    made = loopwright.drop_in(path, tmp_path / "g.c")
    assert made.replaced == ("f_0",)
    assert [each.location.line for each in made.left_out if each.location] == [3, 4]
