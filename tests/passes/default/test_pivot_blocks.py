"""Tables that are updated in place by pivot rows and columns run in blocks of pivots, exactly."""

from __future__ import annotations

import numpy as np
import pytest
from support.reference_runs import function_of
from support.semiring_programs import CLOSURE, COMPARED, ELIMINATION, PARSES, RELIABILITY

import loopwright
from loopwright.passes.default import pivot_blocks
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

LARGE = 1000


def scheduled(function: Function, n: int = LARGE, threads: int = 2) -> Schedule | None:
    original = Schedule.original(function.scop)
    sizes = {parameter.name: n for parameter in function.scop.parameters}
    context = SchedulingContext(infer_extents(function.scop, sizes), threads)
    return pivot_blocks.pivot_blocks(original, original.tree, context)


def run(function: Function, schedule: Schedule, table: np.ndarray) -> None:  # pyright: ignore
    """Compares with the program as written, bit for bit."""
    expected = table.copy()
    function.compile()(len(table), expected)
    kernel = function.compile(schedule, threads=2, verify=True)
    kernel(len(table), table)
    assert table.tobytes() == expected.tobytes()
    assert kernel.verdict is not None
    assert kernel.verdict.is_proved


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pivot_blocks, "BLOCK", 8)
    monkeypatch.setattr(pivot_blocks, "STRIP", 8)


@pytest.mark.usefixtures("small_blocks")
def test_shortest_paths_with_negative_cycles() -> None:
    """Pivots change in their own step: each element gets the version that the program reads."""
    function = function_of("polybench/floyd-warshall")
    schedule = scheduled(function)
    assert schedule is not None
    steps = [step.name for step in schedule.transformations]
    assert steps.count("pack") == 14
    table = np.random.default_rng(0).integers(-7, 99, (21, 21)).astype(np.int32)
    run(function, schedule, table)


@pytest.mark.usefixtures("small_blocks")
def test_columns_outside_and_nan() -> None:
    function = loopwright.load(RELIABILITY)["f"]
    schedule = scheduled(function)
    assert schedule is not None
    table = np.random.default_rng(1).random((19, 19)).astype(np.float32)
    table[3, 5], table[7, 7], table[11, 2] = np.nan, np.inf, -np.inf
    run(function, schedule, table)


@pytest.mark.usefixtures("small_blocks")
def test_an_update_with_the_pivot_itself() -> None:
    function = loopwright.load(ELIMINATION)["f"]
    schedule = scheduled(function)
    assert schedule is not None
    run(function, schedule, np.random.default_rng(2).integers(-9, 9, (17, 17)).astype(np.int32))


@pytest.mark.parametrize("text", [CLOSURE, COMPARED])
def test_other_semirings(text: str) -> None:
    """Each element keeps the order of its steps: the update need not be a reduction."""
    schedule = scheduled(loopwright.load(text)["f"], threads=1)
    assert schedule is not None
    assert "parallel" not in str(schedule)


def test_it_is_chosen() -> None:
    function = function_of("polybench/floyd-warshall")
    sizes = infer_extents(function.scop, {"n": 2800})
    assert str(default_schedule(function.scop, sizes, threads=2)) == str(scheduled(function, 2800))


def test_small_tables_stay() -> None:
    assert scheduled(loopwright.load(CLOSURE)["f"], n=60) is None


@pytest.mark.parametrize("kernel", ["gemm", "lu", "cholesky", "nussinov", "trmm", "jacobi-2d"])
def test_other_programs_stay(kernel: str) -> None:
    assert scheduled(function_of(f"polybench/{kernel}")) is None


def test_a_table_without_pivots() -> None:
    assert scheduled(loopwright.load(PARSES)["f"]) is None
