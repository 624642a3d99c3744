"""`for` loops whose step is no constant, compared with gcc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

BODIES = {
    "butterflies": "for (int h = 1; h < n; h *= 2) for (int i = 0; i < n; i += h * 2)"
    " for (int j = i; j < i + h; j++) { double x = a[j], y = a[j + h]; a[j] = x + y;"
    " a[j + h] = x - y; }",
    "shifted": "for (int len = 2; len <= n; len <<= 1) { int half = len / 2;"
    " for (int i = 0; i < n; i += len) for (int k = 0; k < half; k++) {"
    " double u = a[i + k], v = a[i + k + half] * b[k * (n / len)];"
    " a[i + k] = u + v; a[i + k + half] = u - v; } }",
    "bitonic": "for (int k = 2; k <= n; k *= 2) for (int j = k / 2; j > 0; j /= 2)"
    " for (int i = 0; i < n; i++) { int l = i ^ j; if (l > i)"
    " if (((i & k) == 0 && a[i] > a[l]) || ((i & k) != 0 && a[i] < a[l])) {"
    " double t = a[i]; a[i] = a[l]; a[l] = t; } }",
    "shell sort": "for (int gap = n / 2; gap > 0; gap /= 2) for (int i = gap; i < n; i++) {"
    " double t = a[i]; int j; for (j = i; j >= gap && a[j - gap] > t; j -= gap)"
    " a[j] = a[j - gap]; a[j] = t; }",
    "variable of other loops": "int i; for (i = 1; i < n; i *= 3) a[i] += b[i];"
    " for (i = 0; i < n; i++) a[i] *= 2;",
    "value behind": "int i; for (i = 1; i < n; i = 2 * i + 1) a[i] += 1; b[0] = i;",
    "continue": "for (int i = 1; i < n; i += i) { if (b[i] < 0) continue; a[i] = b[i]; }",
    "break": "for (int i = 1; i < n; i *= 2) { if (b[i] < -1) break; a[i] = b[i]; }",
    "step of a size": "for (int ii = 0; ii < n; ii += m) for (int i = ii;"
    " i < (ii + m < n ? ii + m : n); i++) a[i] = b[i] + ii;",
    "several variables": "for (int k = 2, h = 1; k <= n; h = k, k *= 2)"
    " for (int i = 0; i < h; i++) a[i + h] += a[i];",
    "by data": "int i; for (i = 0; i < n; i += 1 + (b[i] > 0)) a[i] = i;",
}


@pytest.mark.parametrize("name", BODIES)
def test_steps_that_are_no_constants(name: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, int m, double *a, double *b) {\n#pragma scop\n"
        f"    {BODIES[name]}\n#pragma endscop\n}}\n"
    )
    values = np.random.default_rng(4).standard_normal((2, 64))

    def arrays() -> dict[str, np.ndarray]:
        return {"a": values[0].copy(), "b": values[1].copy()}

    assert_same_as_compiled(path, [(64, 5), (32, 7), (1, 3), (2, 1)], arrays)
