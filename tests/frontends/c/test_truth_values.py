"""Arrays of truth values: what is stored is 0 or 1, compared with gcc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

BODIES = (
    "for (int i = 0; i < n; i++) a[i] = b[i] && x[i] > 0;",
    "for (int i = 0; i < n; i++) a[i] = b[i] & 2;",
    "for (int i = 0; i < n; i++) { a[i] |= b[i] ^ 1; if (x[i] > 1) a[i] = !a[i]; }",
    "for (int i = 0; i < n; i++) { a[i]++; b[i] = x[i]; }",
    "for (int i = 0; i < n; i++) { x[i] += a[i] + b[i] * 2; b[i] -= a[i]; }",
    "int k = 0; for (int i = 0; i < n; i++) { k += a[i]; _Bool t = x[i] > k; b[i] = t; } x[0] = k;",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = a[i * m + j] == b[j];",
    "for (int i = 1; i < n; i++) a[i] = a[i - 1] != b[i];",
    "_Bool t[90]; for (int i = 0; i < n; i++) t[i] = x[i] > 1;"
    "for (int i = 0; i < n; i++) { b[i] = t[n - 1 - i]; a[i] &= t[i]; }",
    "for (int i = 0; i < n; i++) { a[i] = x[i] * 0.25; b[i] = -a[i]; x[i] = ~b[i]; }",
)


def _arguments() -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    a, b = (random.random(90) > 0.5 for _ in "ab")
    return {"a": a, "b": b, "x": np.floor(random.random(90) * 4) - 1}


@pytest.mark.parametrize("body", BODIES)
def test_truth_values(body: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    head = "void f(int n, int m, _Bool *a, _Bool *b, double *x) {\n#pragma scop\n"
    path.write_text(f"{head}    {body}\n#pragma endscop\n}}\n")
    assert_same_as_compiled(path, ((0, 4), (1, 1), (8, 9), (9, 10)), _arguments)
