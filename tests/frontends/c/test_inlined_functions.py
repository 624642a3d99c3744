"""Functions of declarations and `return`, in place of their calls: what the C compiler computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright

TEXT = """
static inline double square(double x) { return x * x; }
static double weighted(double rho, float u, int k) {
    const double cu = 3.0 * u;
    float half = 0.5 * cu, r = half * rho;
    return rho * (1 + cu + r * square(cu) - k / 2);
}
static int clamped(int x, int lo, int hi) {
    if (x < lo) return lo;
    else if (x > hi) { return hi; }
    return x;
}
static short wrapped(int v) { if (v & 1) return v * 30000 + 1; return v >> 1; }
static int divided(int a, int b) { if (b == 0) { return 7; } else return a / b; }

void f(int n, double *restrict x, const double *restrict y, int *restrict z) {
    for (int i = 0; i < n; i++) {
        x[i] = weighted(y[i], x[i], i);
        z[i] = clamped(z[i], -3, 5) + wrapped(z[i]) + divided(z[i], z[i] & 3);
    }
    for (unsigned i = 1; i + 1 < (unsigned)n; i++)
        x[i] += y[i + 1] + y[i - 1];
}
"""


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize("n", [0, 1, 2, 53])
def test_functions(schedule: str | None, n: int, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(TEXT)
    random = np.random.default_rng(n)
    arrays = (
        random.integers(-2, 3, n).astype(float),
        random.random(n),
        random.integers(-50, 50, n).astype(np.int32),
    )
    ours, theirs = ([each.copy() for each in arrays] for _ in range(2))
    loopwright.load(path)["f"].compile(schedule, threads=1)(n, *ours)
    library = build(compilers()[0], [TEXT], tmp_path, "-O0", "-ffp-contract=off")
    library.f(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in theirs))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
