"""Random schedules: legal, different from each other, repeatable, and they read back."""

from __future__ import annotations

from random import Random

import pytest

from loopwright.costmodel.generator import random_program
from loopwright.costmodel.labelled_data import RandomWorkload
from loopwright.costmodel.sampler import STAGES, random_moves, sample_schedules
from loopwright.passes.default.default_schedule import candidates
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import chains
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.schedules.unrolled_copies import copies
from loopwright.passes.search.space.strides import is_contiguous
from loopwright.passes.search.space.trees import tree_key
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

MATRIX_PRODUCT = """
func.func @product(%n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %0 = affine.load %C[%i, %j] : memref<?x?xf32>
        %1 = affine.load %A[%i, %k] : memref<?x?xf32>
        %2 = affine.load %B[%k, %j] : memref<?x?xf32>
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %0, %3 : f32
        affine.store %4, %C[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""


def original(text: str) -> Schedule:
    (function,) = load(text).values()
    return Schedule.original(function.scop)


@pytest.mark.parametrize("seed", range(6))
def test_schedules_are_different_and_read_back(seed: int) -> None:
    start = original(random_program(seed).text)
    samples = list(sample_schedules(Random(seed), start, 12))
    assert samples
    keys = {tree_key(sample.schedule.tree) for sample in samples}
    assert len(keys) == len(samples)
    assert tree_key(start.tree) not in keys
    for sample in samples:
        # Applying the text checks every step anew.
        again = start.apply_all(parse_pipeline(str(sample.schedule)))
        assert tree_key(again.tree) == tree_key(sample.schedule.tree)


def test_a_seed_gives_the_same_schedules() -> None:
    start = original(MATRIX_PRODUCT)
    first, second = (
        [str(sample.schedule) for sample in sample_schedules(Random(7), start, 30)]
        for _ in range(2)
    )
    assert first == second
    assert len(first) == 30
    other = [str(sample.schedule) for sample in sample_schedules(Random(8), start, 30)]
    assert other != first


def test_steps_that_are_too_complex_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    tiled = original(MATRIX_PRODUCT).apply_all(parse_pipeline("tile{loops=i,j,k sizes=8,8,8}"))
    packed = random_moves.pack(Random(0), tiled)
    assert packed is not None
    assert "pack{" in str(packed)
    monkeypatch.setattr(random_moves, "OPERATIONS", 1000)
    assert random_moves.pack(Random(0), tiled) is None


def test_all_stages_and_transformations_take_part() -> None:
    samples = list(sample_schedules(Random(1), original(MATRIX_PRODUCT), 150))
    stages = {name for sample in samples for name in sample.origin.split("+")}
    possible = {stage.name for stage in STAGES} - {"fusion"}
    assert possible <= stages
    text = " ".join(str(sample.schedule) for sample in samples)
    for name in (
        "interchange",
        "tile",
        "parallel",
        "vectorize",
        "unroll",
        "unroll-and-jam",
        "pack",
    ):
        assert f"{name}{{" in text, name


def test_a_small_space_ends() -> None:
    text = """
    func.func @sum(%n: index, %A: memref<?xf64>, %x: memref<f64>) {
      affine.for %i = 0 to %n {
        %0 = affine.load %x[] : memref<f64>
        %1 = affine.load %A[%i] : memref<?xf64>
        %2 = arith.addf %0, %1 : f64
        affine.store %2, %x[] : memref<f64>
      }
      return
    }
    """
    samples = list(sample_schedules(Random(1), original(text), 20))
    assert 0 < len(samples) <= 20
    assert not any("vectorize" in str(sample.schedule) for sample in samples)


def test_chains_and_copies() -> None:
    start = original(MATRIX_PRODUCT)
    assert [[loop.name for loop in chain] for chain in chains(start.tree)] == [["i", "j", "k"]]
    unrolled = start.apply_all(
        parse_pipeline("unroll-and-jam{loops=i factor=4},unroll{loops=k factor=2}")
    )
    assert copies(unrolled.tree) == 8


def test_the_default_workload() -> None:
    workload = RandomWorkload(seed=3, fewest=4, most=8)
    assert workload.instance(2) == workload.instance(2)
    assert workload.instance(2).text == random_program(workload.program_seed(2)).text
    assert workload.program_seed(0) != RandomWorkload(seed=4).program_seed(0)
    start = original(workload.instance(2).text)
    sizes = infer_extents(start.scop, workload.instance(2).sizes)
    schedules = [str(schedule) for schedule, _ in workload.schedules(2, start, sizes)]
    assert 4 <= len(schedules) <= 8
    assert schedules == [str(schedule) for schedule, _ in workload.schedules(2, start, sizes)]


def test_default_schedules_and_their_neighbours_are_among_them() -> None:
    start = original(MATRIX_PRODUCT)
    defaults = list(candidates(start, SchedulingContext(infer_extents(start.scop, {"n": 300}), 2)))
    assert defaults
    samples = list(sample_schedules(Random(1), start, 60, defaults))
    assert samples[0].schedule in defaults and samples[0].origin == "default"
    assert any(sample.origin == "default+neighbour" for sample in samples)
    for sample in samples:
        assert start.apply_all(sample.schedule.transformations) == sample.schedule


def test_contiguous_loops() -> None:
    tree = original(MATRIX_PRODUCT)
    (chain,) = chains(tree.tree)
    assert [is_contiguous(tree, loop) for loop in chain] == [False, True, False]
