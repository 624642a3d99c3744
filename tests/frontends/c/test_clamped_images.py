"""Flat arrays in rows of a multiple of a size, where a subscript tells no row: it is divided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_code import assert_same_as_compiled

PROGRAM = """\
static int cl(int v, int n) { return v < 0 ? 0 : v >= n ? n - 1 : v; }
void f(int n, int m, const float *restrict in, float *restrict out) {
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m; x++)
      for (int c = 0; c < 3; c++) out[3 * (y * m + x) + c] = VALUE;
}
"""


@pytest.mark.parametrize(
    "value",
    [
        "0.5f * out[3 * (cl(y - 1, n) * m + cl(x + 1, m)) + c] + in[3 * (y * m + x)]",
        "in[3 * (y * m + x)] + in[cl(y * m + x - 1, n * m) * 3 + c]",
    ],
)
def test_results_of_gcc(value: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(PROGRAM.replace("VALUE", value))
    random = np.random.default_rng(1)
    for n, w in ((1, 1), (5, 7), (20, 33)):
        arrays = {name: random.random((n, 3 * w)).astype("f4") for name in ("in", "out")}
        assert_same_as_compiled(
            path, [(n, w)], lambda arrays=arrays: {k: v.copy() for k, v in arrays.items()}
        )
