"""Hoisting of recurrences by the default schedule: where it is chosen, and its results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.scops import polybench, schedule_of
from support.targets import WIDE

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.hoisted_recurrences import with_hoisted_recurrences
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule

# Tridiagonal systems with one matrix and many right-hand sides (Thomas' algorithm).
THOMAS = """
void thomas(int lines, int n, double a[n], double b[n], double c[n], double x[lines][n],
            double cp[lines][n], double dp[lines][n]) {
  for (int i = 0; i < lines; i++) {
    cp[i][0] = c[0] / b[0];
    dp[i][0] = x[i][0] / b[0];
    for (int j = 1; j < n; j++) {
      double m = 1.0 / (b[j] - a[j] * cp[i][j - 1]);
      cp[i][j] = c[j] * m;
      dp[i][j] = (x[i][j] - a[j] * dp[i][j - 1]) * m;
    }
    x[i][n - 1] = dp[i][n - 1];
    for (int j = n - 2; j >= 0; j--)
      x[i][j] = dp[i][j] - cp[i][j] * x[i][j + 1];
  }
}
"""

# Implicit diffusion down the columns of a grid, step by step.
IMPLICIT = """
void implicit(int lines, int n, float k, float u[n][lines], float p[n][lines],
              float q[n][lines]) {
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < lines; i++) {
      p[0][i] = 0.0f;
      q[0][i] = u[0][i];
      for (int j = 1; j < n - 1; j++) {
        p[j][i] = k / (1.0f + 2.0f * k - k * p[j - 1][i]);
        q[j][i] = (u[j][i] + k * q[j - 1][i]) / (1.0f + 2.0f * k - k * p[j - 1][i]);
      }
      for (int j = n - 2; j > 0; j--)
        u[j][i] = p[j][i] * u[j + 1][i] + q[j][i];
    }
}
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("zen3")
def test_coefficients_of_sweeps_are_computed_once(threads: int) -> None:
    scop = polybench("adi")
    sizes = {"tsteps": 100, "n": 1000}
    sizes |= {f"{array}_dim{axis}": 1000 for array in "uvpq" for axis in (0, 1)}
    steps = default_schedule(scop, sizes, threads=threads).transformations
    assert [step.name for step in steps][:2] == ["hoist", "hoist"]


@pytest.mark.parametrize("name", ["seidel-2d", "lu", "nussinov", "deriche", "durbin"])
def test_recurrences_that_lines_tell_apart_stay(name: str) -> None:
    scop = polybench(name)
    context = SchedulingContext({size.name: 500 for size in scop.sizes}, 1)
    assert with_hoisted_recurrences(Schedule.original(scop), context) is None


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("text", "schedule"),
    [(THOMAS, "rules"), (THOMAS, "hoist{statements=S2}"), (IMPLICIT, "rules")],
)
def test_results_stay(text: str, schedule: str, threads: int, tmp_path: Path) -> None:
    file = tmp_path / "lines.c"
    file.write_text(text)
    (function,) = loopwright.load(file).values()
    generator = np.random.default_rng(threads)
    kernel = function.compile(schedule, threads=threads, verify=True)
    written = function.compile(None)
    for lines, n in ((300, 150), (129, 333)):
        if text is THOMAS:
            shapes = [(n,)] * 3 + [(lines, n)] * 3
            given = [generator.uniform(0.1, 0.4, shape) for shape in shapes]
            given[1] += 2
            scalars: tuple[float, ...] = (lines, n)
        else:
            given = [generator.uniform(0.1, 0.4, (n, lines)).astype(np.float32) for _ in "upq"]
            scalars = (lines, n, 0.3)
        others = [values.copy() for values in given]
        kernel(*scalars, *given)
        written(*scalars, *others)
        for one, other in zip(given, others, strict=True):
            np.testing.assert_array_equal(one, other)
        assert kernel.verdict is not None
        assert kernel.verdict.is_proved, kernel.verdict


def test_sweeps_of_floats_are_hoisted(tmp_path: Path) -> None:
    """On a processor whose divisions are slow beside its other operations."""
    file = tmp_path / "lines.c"
    file.write_text(IMPLICIT)
    (function,) = loopwright.load(file).values()
    for lines, n in ((300, 150), (129, 333)):
        sizes = infer_extents(function.scop, {"lines": lines, "n": n})
        assert "hoist" in str(default_schedule(function.scop, sizes, WIDE, threads=2))


def test_a_recurrence_that_does_little_stays() -> None:
    schedule = schedule_of(
        "func.func @f(%n: index, %p: memref<?x?xf64>, %q: memref<?x?x?xf64>) {\n"
        "affine.for %i = 0 to %n {\n"
        "affine.for %j = 1 to %n {\n"
        "%0 = affine.load %p[0, %j - 1] : memref<?x?xf64>\n"
        "affine.store %0, %p[0, %j] : memref<?x?xf64>\n"
        "affine.for %k = 0 to %n {\n"
        "%1 = affine.load %q[%i, %j, %k] : memref<?x?x?xf64>\n"
        "%2 = arith.mulf %1, %1 : f64\n"
        "affine.store %2, %q[%i, %j, %k] : memref<?x?x?xf64>\n"
        "}\n}\n}\nreturn\n}"
    )
    sizes = {size.name: 300 for size in schedule.scop.sizes}
    assert with_hoisted_recurrences(schedule, SchedulingContext(sizes, 1)) is None
