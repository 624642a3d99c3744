"""Tables that accumulate terms of their own earlier elements are tiled, and keep their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.reference_runs import function_of
from support.semiring_programs import GAPS, MATRIX_CHAIN, PARSES, RELIABILITY, SEARCH_TREES

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.nonserial_recurrences import nonserial_recurrences
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

LARGE, SMALL = 1000, 107

PROGRAMS: dict[str, tuple[str, list[int]]] = {
    "chain": (MATRIX_CHAIN, [1]),
    "trees": (SEARCH_TREES, [2]),
    "parses": (PARSES, []),
    "gaps": (GAPS, [2, 1]),
}
"""Text, and the ranks of its arrays but the table."""


def scheduled(function: Function, n: int = LARGE, threads: int = 2) -> Schedule | None:
    original = Schedule.original(function.scop)
    sizes = {parameter.name: n for parameter in function.scop.parameters}
    context = SchedulingContext(infer_extents(function.scop, sizes), threads)
    return nonserial_recurrences(original, nests(original.tree)[-1], context)


def arguments(ranks: list[int], kind: str, n: int) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(n)
    return [random.integers(-9, 99, (n,) * rank).astype(kind) for rank in (*ranks, 2)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str) -> None:
    """Whatever order of loops and subscripts: tiles, products in register tiles, the rest by rows.

    Tiles of the size for large tables: partial and whole ones at this size.
    """
    text, ranks = PROGRAMS[name]
    function = loopwright.load(text)["f"]
    schedule = scheduled(function)
    assert schedule is not None
    steps = [step.name for step in schedule.transformations]
    assert {"tile", "split", "pack", "vectorize", "wavefront", "parallel"} <= set(steps)
    kind = text.split("memref<?x?x")[1][:3].replace("i", "int").replace("f", "float")
    results: list[list[np.ndarray[Any, Any]]] = []
    for pipeline in (None, schedule):
        results.append(arguments(ranks, kind, SMALL))
        function.compile(pipeline, threads=2)(SMALL, *results[-1])
    assert results[0][-1].tobytes() == results[1][-1].tobytes()


@pytest.mark.parametrize("n", [1, 2, 3, 31])
def test_tiny_tables(n: int) -> None:
    function = loopwright.load(SEARCH_TREES)["f"]
    kernel = function.compile(scheduled(function), threads=2, verify=True)
    results: list[list[np.ndarray[Any, Any]]] = []
    for code in (function.compile(), kernel):
        results.append(arguments([2], "int32", n))
        code(n, *results[-1])
    assert results[0][-1].tobytes() == results[1][-1].tobytes()
    assert kernel.verdict is not None
    assert kernel.verdict.is_proved


def test_it_is_chosen() -> None:
    """RNA folding, of which the other statements accumulate by the same operation."""
    function = function_of("polybench/nussinov")
    sizes = infer_extents(function.scop, {"n": 2500})
    chosen = default_schedule(function.scop, sizes, threads=2)
    assert str(chosen) == str(scheduled(function, 2500))
    assert "sink{loops=S4_2.k at=j}" in str(chosen)


def test_one_thread_has_no_wavefronts() -> None:
    schedule = scheduled(loopwright.load(PARSES)["f"], threads=1)
    assert schedule is not None
    assert "wavefront" not in str(schedule)


def test_sums_that_round_stay() -> None:
    """The terms would be added in another order."""
    text = PARSES.replace("muli", "mulf").replace("addi", "addf").replace("i32", "f32")
    assert scheduled(loopwright.load(text)["f"]) is None


def test_small_tables_stay() -> None:
    assert scheduled(loopwright.load(PARSES)["f"], n=60) is None


@pytest.mark.parametrize("kernel", ["gemm", "trmm", "lu", "floyd-warshall", "seidel-2d", "durbin"])
def test_other_programs_stay(kernel: str) -> None:
    assert scheduled(function_of(f"polybench/{kernel}")) is None


def test_a_closure_is_none() -> None:
    assert scheduled(loopwright.load(RELIABILITY)["f"]) is None
