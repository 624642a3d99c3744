"""Values that are written twice, in a comparison and in what it selects, are computed once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright

TEXT = """
static double square(double t) { return t * t; }
void f(int n, const double *restrict x, double *restrict m) {
  for (int i = 0; i < n; i++)
    m[0] = square(x[i] + 1) > m[0] ? square(x[i] + 1) : m[0];
}
"""


@pytest.mark.parametrize("schedule", [None, "default"])
def test_operands_that_are_used_twice(schedule: str | None, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(TEXT)
    kernel = loopwright.load(path)["f"].compile(schedule, threads=1)
    x, m = np.random.default_rng(0).normal(size=99), np.zeros(1)
    kernel(99, x, m)
    assert m[0] == pytest.approx(((x + 1) ** 2).max(), rel=1e-15)
