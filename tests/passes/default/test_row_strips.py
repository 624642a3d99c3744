"""Chains of stages over the same rows: one loop over rows, and strips of them in the caches."""

from __future__ import annotations

import numpy as np
import pytest
from support.reference_runs import function_of as kernel_function

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.row_strips import orders_by_rows
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

SMOOTH, SCALE, SLOPE = (
    """
  affine.for %i = {first} to %n - {last} {{
    affine.for %j = 1 to %m - 1 {{
      %a = affine.load %{source}[%i + {up}, %j + {right}] : memref<?x?xKIND>
      %b = affine.load %{source}[%i - {down}, %j - {right}] : memref<?x?xKIND>
      %c = arith.addf %a, %b : KIND
      affine.store %c, %{target}[%i, %j] : memref<?x?xKIND>
    }}
  }}""".format(**each)
    for each in (
        {"source": "A", "target": "B", "first": 1, "last": 1, "up": 1, "down": 1, "right": 0},
        {"source": "B", "target": "C", "first": 1, "last": 1, "up": 0, "down": 0, "right": 0},
        {"source": "C", "target": "D", "first": 3, "last": 3, "up": 2, "down": 1, "right": 1},
    )
)
"""Of which the second one reads the rows that the first one writes, the third others as well."""

ARRAYS = ", ".join(f"%{name}: memref<?x?xKIND>" for name in "ABCD")


def function_of(*stages: str, kind: str = "f64") -> Function:
    text = f"func.func @f(%n: index, %m: index, {ARRAYS}) {{{''.join(stages)}\n  return\n}}"
    return loopwright.load(
        text.replace("KIND", kind)
        .replace("to %m - 1", "to affine_map<(d0) -> (d0 - 1)>(%m)")
        .replace("to %n - 1", "to affine_map<(d0) -> (d0 - 1)>(%n)")
        .replace("to %n - 3", "to affine_map<(d0) -> (d0 - 3)>(%n)")
    )["f"]


def orders(*stages: str, n: int, m: int, threads: int = 2) -> list[str]:
    scop = function_of(*stages).scop
    context = SchedulingContext(infer_extents(scop, {"n": n, "m": m}), threads)
    original = Schedule.original(scop, Target.named("zen4"))
    return [str(order) for order in orders_by_rows(original, context)]


def test_stages_over_the_same_rows_are_joined_others_run_in_strips() -> None:
    joined = "fuse{loops=S0.i,S1.i}"
    assert orders(SMOOTH, SCALE, SLOPE, n=2000, m=500) == [
        joined,
        f"{joined},fuse{{loops=S0.i,S2.i shift=auto}},strip-mine{{loops=i size=55}},"
        "distribute{loops=i after=S1}",
    ]
    assert orders(SMOOTH, SLOPE, n=2000, m=500) == []  # nothing in common


@pytest.mark.parametrize(
    ("n", "m", "threads"),
    [
        (100, 100, 2),  # all arrays fit in the caches
        (2000, 5000, 2),  # strips of less than 16 rows for each thread
    ],
)
def test_arrays_that_fit_and_long_rows_stay(n: int, m: int, threads: int) -> None:
    assert not any("strip-mine" in each for each in orders(SCALE, SLOPE, n=n, m=m, threads=threads))


def test_long_sums_are_no_stages() -> None:
    """Products are bound by arithmetic."""
    product = """
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      affine.for %k = 0 to %m {
        %a = affine.load %A[%i, %k] : memref<?x?xKIND>
        %b = affine.load %B[%i, %j] : memref<?x?xKIND>
        %c = arith.addf %a, %b : KIND
        affine.store %c, %B[%i, %j] : memref<?x?xKIND>
      }
    }
  }"""
    assert orders(product, SCALE, n=2000, m=500) == []


def test_the_default_runs_chains_in_strips_on_all_threads() -> None:
    """Speckle reduction has two stages of five fields; arrays fit in the last cache alone."""
    scop = kernel_function("field/srad").scop
    sizes = infer_extents(scop, catalogue()["field/srad"].parameter_values("LARGE"))
    chosen = str(default_schedule(scop, sizes, Target.named("sapphirerapids"), threads=2))
    assert chosen.startswith("fuse{loops=S0.i,S5.i shift=auto},strip-mine{loops=i")
    assert chosen.endswith("parallel{loops=S0.i},parallel{loops=S5.i}")


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(("n", "m"), [(7, 5), (41, 33), (130, 64)])
def test_strips_compute_the_same_bits(kind: str, n: int, m: int) -> None:
    function = function_of(SMOOTH, SCALE, SLOPE, kind=kind)
    steps = (
        "fuse{loops=S0.i,S1.i},fuse{loops=S0.i,S2.i shift=auto},strip-mine{loops=i size=16},"
        "distribute{loops=i after=S1},vectorize{loops=S0.j},vectorize{loops=S1.j},"
        "vectorize{loops=S2.j},parallel{loops=S0.i},parallel{loops=S2.i}"
    )
    random = np.random.default_rng(1)
    start = [random.standard_normal((n, m)).astype(kind.replace("f", "float")) for _ in range(4)]
    results: list[list[np.ndarray]] = []
    for schedule in ("", steps):
        arrays = [each.copy() for each in start]
        function.compile(schedule, threads=2)(n, m, *arrays)
        results.append(arrays)
    for written, stripped in zip(*results, strict=True):
        np.testing.assert_array_equal(written, stripped)
