"""Compiled kernels against their NumPy references: as written, and with the usual schedules."""

from __future__ import annotations

import pytest
from support.reference_runs import PAPERS_KERNELS, check_run, function_of
from support.standard_schedules import (
    STANDARD_SCHEDULES,
    parallelize,
    standard_schedule,
    tile,
    vectorize,
)

from loopwright.kernels.catalogue import catalogue
from loopwright.kernels.references import REFERENCES
from loopwright.passes.polyhedral.isl_scheduler import FUSIONS

TESTED = [
    ("interchange", "MINI"),
    ("parallel", "MINI"),
    ("vectorize", "MINI"),
    ("all", "SMALL"),
]


@pytest.mark.parametrize("name", PAPERS_KERNELS)
def test_as_written(name: str) -> None:
    for size in ("MINI", "SMALL"):
        check_run(name, None, size)


def run_scheduled(name: str, schedule: str, size: str) -> None:
    """Compiles, calls and checks one kernel."""
    check_run(name, standard_schedule(schedule, function_of(name).schedule()), size)


@pytest.mark.parametrize(("schedule", "size"), TESTED)
@pytest.mark.parametrize("name", PAPERS_KERNELS)
def test_scheduled(name: str, schedule: str, size: str) -> None:
    run_scheduled(name, schedule, size)


@pytest.mark.campaign
@pytest.mark.parametrize("size", ["MINI", "SMALL", "MEDIUM"])
@pytest.mark.parametrize("schedule", list(STANDARD_SCHEDULES))
@pytest.mark.parametrize(
    "name", [name for name in REFERENCES if "MEDIUM" in catalogue()[name].sizes]
)
def test_every_schedule_and_size(name: str, schedule: str, size: str) -> None:
    run_scheduled(name, schedule, size)


# Of these, all three kinds of fusion; of the others, in the campaign only.
AFFINE = ("gemm", "jacobi-2d", "cholesky", "correlation", "doitgen", "nussinov")


def run_affine(name: str, fusion: str) -> None:
    """Checks a kernel in the order of isl's scheduler: tiled, parallel, vectorised."""
    schedule = function_of(name).schedule(f"affine-schedule{{fusion={fusion} seconds=60}}")
    for step in (tile, parallelize, vectorize):
        schedule = step(schedule)
    for size in ("MINI", "SMALL"):
        check_run(name, schedule, size)


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("name", AFFINE)
def test_affine_schedules(name: str, fusion: str) -> None:
    run_affine(f"polybench/{name}", fusion)


@pytest.mark.campaign
@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("name", [name for name in REFERENCES if name.startswith("polybench/")])
def test_every_affine_schedule(name: str, fusion: str) -> None:
    run_affine(name, fusion)
