"""Bands of register tiles, and agents that learn which of them are fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from random import Random

import numpy as np
import pytest
from support.searching import SIZES, task
from support.targets import WIDE
from xdsl.dialects.builtin import f32

from loopwright.costmodel.papers.ai_powered2021.ranked_tiles import RankedTiles
from loopwright.costmodel.papers.ai_powered2021.register_agent import Agent, measurements
from loopwright.costmodel.papers.ai_powered2021.register_bands import Band, RegisterSpace, State
from loopwright.costmodel.papers.ai_powered2021.register_search import (
    RegisterSearch,
    TilesThenRegisters,
)
from loopwright.costmodel.papers.ai_powered2021.register_steps import RegisterSteps
from loopwright.passes.estimate.estimate import Roofline
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.algorithm import Search
from loopwright.passes.search.result import Task
from loopwright.passes.search.searching import search
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

STENCIL = """
func.func @stencil(%n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %i = 1 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%i - 1, %j] : memref<?x?xf32>
      %1 = affine.load %A[%i, %j] : memref<?x?xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %B[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""

SWEEP = """
func.func @sweep(%n: index, %A: memref<?x?xf32>) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %n {
      %0 = affine.load %A[%i - 1, %j] : memref<?x?xf32>
      affine.store %0, %A[%i, %j - 1] : memref<?x?xf32>
    }
  }
  return
}
"""

PRODUCT = """
func.func @product(%n: index, %C: memref<?x?xf32>, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %a = affine.load %A[%i, %k] : memref<?x?xf32>
        %b = affine.load %B[%k, %j] : memref<?x?xf32>
        %c = affine.load %C[%i, %j] : memref<?x?xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""

UNROLLED = "interchange{loops=k,i,j},unroll{loops=i,j},vectorize{loops=j}"

BAND = Band(
    "S0",
    ("i", "j", "k"),
    (100, 8, 100),
    ((1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24), (1, 2, 3, 4), (1, 2, 4, 8)),
    (1, 1, 1),
    32,
    2,
)


def surface(state: State) -> float:
    """Speeds with a peak at 6 x 4, 4 terms, beyond which registers are spilled."""
    rows, vectors, terms = state
    loads = rows * vectors / (rows + vectors)
    return loads * (0.3 if rows * vectors > 27 else 1.0) * (1.0 - 0.03 * abs(terms - 4))


@pytest.mark.parametrize("seed", range(3))
def test_an_agent_finds_fast_states(seed: int) -> None:
    asked: list[State] = []

    def speed(state: State) -> float:
        asked.append(state)
        return surface(state)

    count = len(BAND.states) // 5
    walk = Agent(BAND, seed).learn(speed, count)
    assert len(asked) == len(set(asked)) == count
    assert asked[0] == BAND.start
    assert set(asked) <= set(BAND.states)
    best = max(map(surface, BAND.states))
    # 12 x 2 is a local maximum, at 0.71 of the best speed.
    assert surface(BAND.start) < 0.2 * best
    assert walk.speeds[walk.best] > 0.6 * best


def test_a_seed_gives_the_same_walk() -> None:
    walks = [Agent(BAND, seed).learn(surface, 15) for seed in (4, 4, 5)]
    assert list(walks[0].speeds) == list(walks[1].speeds) != list(walks[2].speeds)


def test_all_states_can_be_measured() -> None:
    small = replace(BAND, ladders=((1, 2), (1, 2), (1,)))
    walk = Agent(small).learn(surface, measurements(small, 1.0))
    assert set(walk.speeds) == set(small.states)


def test_states_that_cannot_be_run_are_left_again() -> None:
    walk = Agent(BAND).learn(lambda state: surface(state) * (state[1] < 3), 30)
    assert walk.best[1] < 3


def test_actions_stay_within_the_registers() -> None:
    assert BAND.move((16, 2, 1), 0, up=True) is None
    assert BAND.move((16, 2, 1), 0, up=False) == (14, 2, 1)
    assert BAND.move((1, 1, 1), 2, up=False) is None


def request_for(n: int, threads: int = 1) -> SchedulingContext:
    dims = {f"{array}_dim{axis}": n for array in "ABC" for axis in (0, 1)}
    return SchedulingContext({"n": n, **dims}, threads)


@pytest.mark.parametrize(("text", "threads"), [(PRODUCT, 1), (STENCIL, 1), (STENCIL, 2)])
def test_every_state_computes_the_same(text: str, threads: int) -> None:
    n = 300 if threads > 1 else 45
    (function,) = load(text).values()
    original = Schedule.original(function.scop)
    space = RegisterSpace(original, request_for(n, threads))
    (band,) = space.bands
    random = np.random.default_rng(0)
    count = len(function.signature.arguments) - 1
    arrays = [random.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(count)]
    expected = [array.copy() for array in arrays]
    function.compile(None)(n, *expected)
    for state in Random(1).sample(band.states, 6):
        schedule = space.schedule({band: state})
        assert schedule is not None
        assert any(loop.unroll is not None for loop in loops(schedule.tree)) == (
            max(state) > 1 or band.terms is not None
        )
        results = [array.copy() for array in arrays]
        function.compile(schedule, threads=threads)(n, *results)
        for result, wanted in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, wanted)


def test_states_that_are_not_legal_have_no_schedule() -> None:
    function = load(SWEEP)["sweep"]
    # For narrower vectors, the loops have been skewed before: those may be jammed.
    space = RegisterSpace(Schedule.original(function.scop, WIDE), request_for(100))
    for band in space.bands:
        jammed = [state for state in band.states if state[0] > 1]
        assert jammed
        assert all(space.schedule({band: state}) is None for state in jammed[:4])


class TallTiles:
    """Pretends to run schedules: those with many unrolled rows are fast."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def measure(
        self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = 1.0
    ) -> list[float]:
        self.asked += map(str, schedules)
        return [self._rate(schedule) for schedule in schedules]

    def _rate(self, schedule: Schedule) -> float:
        rows = [
            loop.within.size
            for loop in loops(schedule.tree)
            if loop.unroll == 0 and loop.within is not None and loop.vector is None
        ]
        return float(max(rows, default=1))


def test_the_search_measures_a_share_and_keeps_the_best() -> None:
    evaluator = TallTiles()
    given = replace(task(Roofline(), seed=1), evaluator=evaluator)
    result = search(RegisterSearch(share=0.2), given)
    (band,) = RegisterSpace(given.original, SchedulingContext(SIZES, 2)).bands
    assert result.measured is not None and result.measured > band.start[0]
    assert len(set(evaluator.asked)) <= measurements(band, 0.2) + 2


def test_the_register_tile_of_a_schedule_is_a_band() -> None:
    n = 45
    function = load(PRODUCT)["product"]
    original = Schedule.original(function.scop)
    given = original.apply_all(parse_pipeline(f"tile{{loops=i,j sizes=5,32}},{UNROLLED}"))
    space = RegisterSteps(original, given, request_for(n))
    (band,) = space.bands
    assert band.start == (5, 32 // original.target.lanes(f32), 1)
    schedule = space.schedule({band: (7, 3, 2)})
    width = 3 * original.target.lanes(f32)
    assert schedule is not None
    assert str(schedule).startswith(f"tile{{loops=i,j sizes=7,{width}}}")
    assert str(schedule).endswith("unroll{loops=k factor=2}")
    random = np.random.default_rng(0)
    arrays = [random.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(3)]
    expected, results = ([array.copy() for array in arrays] for _ in range(2))
    function.compile(None)(n, *expected)
    function.compile(schedule, threads=1)(n, *results)
    np.testing.assert_array_equal(results[0], expected[0])


def test_a_schedule_without_vectors_has_no_band() -> None:
    original = Schedule.original(load(PRODUCT)["product"].scop)
    assert RegisterSteps(original, original, request_for(45)).bands == ()


RUNNING_SUM = """
func.func @sum(%n: index, %A: memref<?xf64>) {
  affine.for %i = 1 to %n {
    %0 = affine.load %A[%i - 1] : memref<?xf64>
    %1 = affine.load %A[%i] : memref<?xf64>
    %2 = arith.addf %0, %1 : f64
    affine.store %2, %A[%i] : memref<?xf64>
  }
  return
}
"""


class AllAlike:
    """Runs that all take the same time."""

    def measure(
        self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
    ) -> list[float]:
        return [1.0] * len(schedules)


@pytest.mark.parametrize("how", [RegisterSearch(), TilesThenRegisters(RankedTiles())])
def test_a_search_says_that_there_is_nothing_to_learn(how: Search) -> None:
    original = Schedule.original(load(RUNNING_SUM)["sum"].scop)
    context = SchedulingContext({"n": 50, "A_dim0": 50}, 1)
    result = search(how, Task(original, context, Roofline(), AllAlike()))
    assert result.remarks and "there is nothing" in result.remarks[0]
    assert result.best == original
