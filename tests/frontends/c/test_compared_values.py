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


def test_values_that_are_used_again_and_again_are_compared_once(tmp_path: Path) -> None:
    """Each call uses its argument twice: 2^40 paths lead to the element."""
    calls = "x[i]"
    for _ in range(40):
        calls = f"mean({calls})"
    path = tmp_path / "f.c"
    path.write_text(
        "static double mean(double t) { return (t + t) * 0.5; }\n"
        "void f(int n, const double *restrict x, double *restrict m) {\n"
        f"  for (int i = 0; i < n; i++)\n    m[0] = {calls} > m[0] ? {calls} : m[0];\n}}\n"
    )
    x, m = np.random.default_rng(0).normal(size=99), np.zeros(1)
    loopwright.load(path)["f"].compile("default", threads=1)(99, x, m)
    assert m[0] == x.max()
