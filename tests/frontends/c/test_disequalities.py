"""Conditions with `==` and `!=` of which loops exclude one side: borders of images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

HEAD = "void f(int n, int m, const double *a, double *b, unsigned char *c) {{\n"
FORM = HEAD + "#pragma scop\n    {0}\n#pragma endscop\n}}\n"
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
BODIES = (
    ROWS + "{ if (i == 0 || j == 0 || i == n - 1 || j == m - 1) { b[i * m + j] = 0; continue; }"
    " b[i * m + j] = a[(i - 1) * m + j - 1] - a[(i + 1) * m + j + 1]; }",
    ROWS + "{ if (i != 0 && j != m - 1) b[i * m + j] = a[(i - 1) * m + j + 1]; }",
    ROWS + "b[i * m + j] = i != 0 ? a[(i - 1) * m + j] : 7;",
    ROWS + "b[i * m + j] = j == m - 1 ? c[i] : a[i * m + j + 1];",
    "for (unsigned i = 0; i < (unsigned)n; i++) if (i != 0) b[i] = a[i - 1]; else b[i] = a[n];",
    "for (int i = n - 1; i >= 0; i--) { if (i == n - 1) b[i] = 0; else b[i] = a[i] + b[i + 1]; }",
    ROWS + "{ if (!(i == j)) c[i * m + j] = i; else c[i * m + j] = 200; }",
    "for (int i = 0; i < n; i++) { if (i == -1) b[i] = 5; else if (i != n) b[i] = 6; }",
    "for (int i = 0; i < n; i++) b[i] = i == n ? 5 : i != -3 ? a[i] : 6;",
)


def _arguments() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    a, b = random.random(99), random.random(99)
    return {"a": a, "b": b, "c": np.arange(99, dtype=np.uint8)}


@pytest.mark.parametrize("body", BODIES)
def test_conditions_that_exclude_a_side(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(FORM.format(body))
    assert_same_as_compiled(path, ((1, 1), (1, 4), (5, 3), (8, 9)), _arguments)
