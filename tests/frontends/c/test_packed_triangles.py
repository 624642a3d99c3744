"""Rows of packed triangles, `p[i * (i + 1) / 2 + j]`: gathers of neighbours, one check a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.errors import OutOfBounds

PRODUCT = """
void f(int n, const double *restrict p, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j <= i; j++) s += p[i * (i + 1) / 2 + j] * x[j];
    y[i] = s;
  }
}
"""
SIZES = (1, 2, 7, 40)


def load(tmp_path: Path, text: str) -> loopwright.Function:
    path = tmp_path / "f.c"
    path.write_text(text)
    return loopwright.load(path)["f"]


@pytest.mark.parametrize("fast_math", [False, True])
def test_products(tmp_path: Path, fast_math: bool) -> None:
    function = load(tmp_path, PRODUCT)
    assert not function.scop.opaque_statements
    for n in SIZES:
        generator = np.random.default_rng(n)
        p, x = generator.random(n * (n + 1) // 2), generator.random(n)
        y = np.zeros(n)
        function.compile("default", threads=1, fast_math=fast_math)(n, p, x, y)
        whole = np.zeros((n, n))
        whole[np.tril_indices(n)] = p
        np.testing.assert_allclose(y, whole @ x, rtol=1e-12)


@pytest.mark.parametrize("schedule", [None, "", "default"])
def test_subscripts_beyond_the_end_are_refused(tmp_path: Path, schedule: str | None) -> None:
    kernel = load(tmp_path, PRODUCT).compile(schedule, threads=1)
    n = 40
    p, x, y = np.ones(n * (n + 1) // 2 - 1), np.ones(n), np.full(n, 7.0)
    with pytest.raises(OutOfBounds, match="access outside of p"):
        kernel(n, p, x, y)
