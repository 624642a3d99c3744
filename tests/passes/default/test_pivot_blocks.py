"""Tables that are updated in place by pivot rows and columns run in blocks of pivots, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
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


def check(function: Function, schedule: Schedule, table: NDArray[Any], *, verify: bool) -> None:
    """Compares with the program as written, bit for bit; with `verify`, proves it too."""
    expected = table.copy()
    function.compile()(len(table), expected)
    kernel = function.compile(schedule, threads=2, verify=verify)
    kernel(len(table), table)
    assert table.tobytes() == expected.tobytes()
    assert not verify or (kernel.verdict is not None and kernel.verdict.is_proved)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pivot_blocks, "BLOCK", 8)
    monkeypatch.setattr(pivot_blocks, "STRIP", 8)


@pytest.mark.usefixtures("small_blocks")
def test_shortest_paths_with_negative_cycles() -> None:
    """Pivots change in their own step: each element gets the version that the program reads."""
    function = function_of("polybench/floyd-warshall")
    chosen = default_schedule(function.scop, infer_extents(function.scop, {"n": LARGE}), threads=2)
    assert str(chosen) == str(scheduled(function))
    assert [step.name for step in chosen.transformations].count("pack") == 14
    table = np.random.default_rng(0).integers(-7, 99, (21, 21)).astype(np.int32)
    check(function, chosen, table, verify=True)


def test_loops_may_have_any_names() -> None:
    plain = scheduled(loopwright.load(CLOSURE)["f"])
    for name in ("strip", "it", "tile"):
        named = scheduled(loopwright.load(CLOSURE.replace("%i", f"%{name}"))["f"])
        assert plain is not None and named is not None
        assert len(named.transformations) == len(plain.transformations)


@pytest.mark.usefixtures("small_blocks")
def test_columns_outside_and_nan() -> None:
    function = loopwright.load(RELIABILITY)["f"]
    schedule = scheduled(function)
    assert schedule is not None
    table = np.random.default_rng(1).random((19, 19)).astype(np.float32)
    table[3, 5], table[7, 7], table[11, 2] = np.nan, np.inf, -np.inf
    check(function, schedule, table, verify=False)


@pytest.mark.usefixtures("small_blocks")
def test_an_update_with_the_pivot_itself() -> None:
    function = loopwright.load(ELIMINATION)["f"]
    schedule = scheduled(function, threads=1)
    assert schedule is not None
    assert "parallel" not in str(schedule)
    table = np.random.default_rng(2).integers(-9, 9, (17, 17)).astype(np.int32)
    check(function, schedule, table, verify=False)


@pytest.mark.parametrize("text", [CLOSURE, COMPARED])
def test_other_semirings(text: str) -> None:
    """Each element keeps the order of its steps: the update need not be a reduction."""
    schedule = Schedule.original(loopwright.load(text)["f"].scop)
    sizes = infer_extents(schedule.scop, {"n": LARGE})
    found = pivot_blocks.recognise(schedule, schedule.tree, SchedulingContext(sizes, 2))
    assert found == pivot_blocks.Pivots("S0", "k", "i", "j", ((1, (0, 1)), (2, (1, 0))))


def test_small_tables_stay() -> None:
    assert scheduled(loopwright.load(CLOSURE)["f"], n=150) is None


@pytest.mark.parametrize("kernel", ["gemm", "lu", "cholesky", "nussinov", "trmm", "jacobi-2d"])
def test_other_programs_stay(kernel: str) -> None:
    assert scheduled(function_of(f"polybench/{kernel}")) is None


def test_a_table_without_pivots() -> None:
    assert scheduled(loopwright.load(PARSES)["f"]) is None
