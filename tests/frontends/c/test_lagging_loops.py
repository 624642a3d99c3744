"""Loops with a variable that lags behind, `j = i++`, compared with gcc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

HEAD = "void f(int n, int m, const double *a, double *b, int *c) {{\n"
FORM = HEAD + "#pragma scop\n    {0}\n#pragma endscop\n}}\n"
BODIES = (
    "for (int i = 0, j = n - 1; i < n; j = i++) b[0] += a[j] * a[i + 9];",
    "int i, j; for (i = 0, j = n - 1; i < n; j = i++) b[i] = a[j] - a[i];",
    "int i, j; for (j = n - 1, i = 0; i < n; j = i, i++) if (a[i] > a[j]) c[0] = !c[0];",
    "for (int i = 1, j = m; i < n; j = i, ++i) b[i] = a[j];",
    "for (long i = 0, j = n - 1; i < n; j = i, i += 2) b[i] = a[j];",
    "int i, j = 3; for (i = 0; i < n; j = i++) b[i] = a[j];",
    "int i, j; for (i = 0, j = 5; i < n; j = i++) b[i] = a[i]; c[1] = j;",
    "for (int i = 0, j = n - 1; i < n; j = i++) { b[i] = a[j]; if (a[j] > 0.5) j = 0; }",
    "for (int k = 0; k < m; k++) for (int i = 0, j = k; i < n; j = i++) b[k] += a[j];",
    "for (unsigned i = 0, j = 7; i < (unsigned)n; j = i++) b[i] = a[j];",
    "for (int i = n - 1, j = 0; i >= 0; j = i--) b[i] = a[j];",
)


def _arguments() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    a, b = random.random(99), random.random(99)
    return {"a": a, "b": b, "c": np.arange(99, dtype=np.int32)}


@pytest.mark.parametrize("body", BODIES)
def test_variables_that_lag_behind(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(FORM.format(body))
    assert_same_as_compiled(path, ((0, 4), (1, 1), (5, 3), (8, 9)), _arguments)
