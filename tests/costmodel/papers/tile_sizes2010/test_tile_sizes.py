"""Tuning tile sizes: searches on known functions, and a small program from end to end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from support.runtime_programs import DOT, GEMM

from loopwright.costmodel.papers.tile_sizes2010.gaussian_process import Scales, fit
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.names import GUIDED
from loopwright.passes.search.space.run_time_tilings import run_time_tilings
from loopwright.passes.search.space.tile_size_space import USUAL, TileSpace
from loopwright.passes.search.tile_size_search import Plan, find_tile_search
from loopwright.passes.transformations.tile import Tile
from loopwright.runtime.program import load
from loopwright.runtime.tuning import evaluator, tiles
from loopwright.runtime.tuning.evaluator import EvaluationError, RunningEvaluator
from loopwright.runtime.tuning.tiles import (
    Journal,
    TileOptions,
    TileProgress,
    extents,
    promising_points,
    tune_tiles,
    with_sizes,
)

SPACE = TileSpace((USUAL, USUAL, USUAL))


def smooth(points: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> list[float]:
    """Seconds with one best point, tiles of 32 x 64 x 256."""
    distances = np.abs(np.log2(points) - np.log2([32, 64, 256]))
    return (1.0 + (distances**2).sum(1)).tolist()


def search(name: str, plan: Plan, seconds: list[float]) -> dict[int, float]:
    """What a search measures."""
    batches = find_tile_search(name)(plan)
    known: dict[int, float] = {}
    asked = next(batches)
    while True:
        # The paper's 50 best may be among the sample.
        assert name == "network" or not known.keys() & set(asked), "a point is measured once"
        known |= {point: seconds[point] for point in asked}
        try:
            asked = batches.send(dict(known))
        except StopIteration:
            return known


@pytest.mark.parametrize("name", ["network", "guided"])
def test_a_smooth_function_is_learned(name: str) -> None:
    seconds = smooth(SPACE.points)
    plan = Plan(SPACE, 106, seed=1)
    known = search(name, plan, seconds)
    assert len(known) <= plan.measurements == 106 + GUIDED
    chance = search("random", plan, seconds)
    assert min(known.values()) < 1.5 <= min(chance.values()) + 0.5
    assert min(known.values()) <= min(chance.values())


def test_a_narrow_ridge_is_found() -> None:
    """One size of the second loop is twice as fast as all others."""
    basin = np.array(smooth(SPACE.points))
    seconds = np.where(SPACE.points[:, 1] == 4, 0.5 + 0.01 * basin, basin).tolist()
    for seed in range(5):
        known = search("guided", Plan(SPACE, 106, seed), seconds)
        assert len(known) == 106 + GUIDED
        assert min(known.values()) == pytest.approx(0.67)


@pytest.mark.parametrize("loop", [0, 1, 2])
def test_points_along_a_loop_differ_in_its_size_only(loop: int) -> None:
    space = TileSpace(((1, 2, 4), (3, 5), (7, 8, 9, 10)))
    point = space.points.tolist().index([2, 5, 9])
    expected = [[2, 5, 9] for _ in space.sizes[loop]]
    for row, size in zip(expected, space.sizes[loop], strict=True):
        row[loop] = size
    assert space.points[space.along(point, loop)].tolist() == expected


def test_the_guided_search_lives_with_sizes_that_cannot_be_run() -> None:
    seconds = [
        float("inf") if point[0] > 40 else value
        for point, value in zip(SPACE.points, smooth(SPACE.points), strict=True)
    ]
    assert min(search("guided", Plan(SPACE, 106), seconds).values()) < 1.5


def test_small_spaces_are_measured_whole() -> None:
    space = TileSpace.usual((3, 2))
    assert space.sizes == ((1, 2, 3), (1, 2))
    for name in ("random", "guided"):
        assert len(search(name, Plan(space, 4), [1.0 + k for k in range(6)])) == 6


def test_promising_points_come_first() -> None:
    batches = find_tile_search("guided")(Plan(SPACE, 106, promising=lambda: (7, 5)))
    assert next(batches)[:2] == [7, 5]


def test_a_process_knows_its_own_points_and_doubts_others() -> None:
    inputs = np.linspace(0, 1, 8)[:, None]
    process = fit(inputs, np.sin(5 * inputs[:, 0]), Scales((0.4,), 1e-4))
    assert np.allclose(process.mean(inputs), np.sin(5 * inputs[:, 0]), atol=0.02)
    doubtful = np.vstack([inputs, [[3.0]]])
    assert process.most_hopeful(doubtful, 1, 10.0) == [8]
    assert process.most_hopeful(doubtful, 1, 0.0) == [inputs.shape[0] - 1]


def test_a_batch_is_spread_over_what_is_promising() -> None:
    """After one point its neighbours have little left to hope for; the points are in pairs."""
    process = fit(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]), Scales((0.2,), 1e-4))
    pairs = np.array([[0.3], [0.301], [0.6], [0.601], [0.8], [0.801]])
    chosen = process.most_hopeful(pairs, 3, 2.0)
    assert sorted(place // 2 for place in chosen) == [0, 1, 2]
    assert len(process.most_hopeful(pairs, 10, 2.0)) == 6


def test_extents_of_skewed_loops() -> None:
    schedule = load(GEMM)["gemm"].schedule("skew{loops=i,j factors=2},tile{loops=i,j sizes=Ti,Tj}")
    assert extents(schedule, {"ni": 10, "nj": 5, "nk": 3}) == (10, 23)


def test_sizes_become_constants() -> None:
    function = load(GEMM)["gemm"]
    tiling = function.schedule("tile{loops=i,j sizes=T,8},parallel{loops=it}")
    constant = with_sizes(function.schedule(), tiling, {"T": 4})
    assert str(constant) == "tile{loops=i,j sizes=4,8},parallel{loops=it}"


def test_tilings_of_a_product() -> None:
    original = Schedule.original(load(GEMM)["gemm"].scop)
    found = list(run_time_tilings(original, SchedulingContext({"ni": 50, "nj": 50, "nk": 50}, 2)))
    assert any(
        len(schedule.run_time_sizes) == 3
        and "parallel" in str(schedule)
        and "vectorize" in str(schedule)
        for schedule in found
    )


@pytest.mark.parametrize("name", ["2mm", "jacobi-2d"])
def test_all_of_the_deepest_bands_are_tiled_alike(name: str) -> None:
    entry = catalogue()[f"polybench/{name}"]
    function = load(entry.text)[entry.function]
    values = entry.arguments("MINI")
    sizes = function.signature.sizes_of(values).of(function.scop)
    found = list(run_time_tilings(function.schedule(), SchedulingContext(sizes, 1)))
    first = next(tiling for tiling in found if "affine" not in str(tiling))
    tiles = [step for step in first.transformations if isinstance(step, Tile)]
    assert len(tiles) == 2 and tiles[0].sizes == tiles[1].sizes == first.run_time_sizes
    options = TileOptions(str(first), threads=1, keep=False, share=0.001)
    assert tune_tiles(function, values, options).seconds < float("inf")


def test_a_journal_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "tuning.sqlite"))
    journal = Journal.open("question", keep=True)
    journal.put({"T": 4}, 0.5)
    assert journal.path is not None
    with journal.path.open("a", encoding="utf-8") as file:
        file.write('{"sizes": {"T": 8}, "sec')  # killed while writing
    again = Journal.open("question", keep=True)
    assert again.get({"T": 4}) == 0.5 and again.get({"T": 8}) < 0
    assert Journal.open("another", keep=True).get({"T": 4}) < 0
    again.close()
    assert not journal.path.exists()


def test_a_small_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "tuning.sqlite"))
    function = load(GEMM)["gemm"]
    seen: list[TileProgress] = []

    def report(progress: TileProgress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            raise KeyboardInterrupt

    options = TileOptions("tile{loops=i sizes=T}", threads=1, report=report)
    values = [40, 3, 3, np.zeros((40, 3)), np.ones((40, 3)), np.ones((3, 3))]
    with pytest.raises(KeyboardInterrupt):
        tune_tiles(function, values, options)
    result = tune_tiles(function, values, TileOptions("tile{loops=i sizes=T}", threads=1))
    assert result.ended == "done" and result.combinations == len([s for s in USUAL if s < 40]) + 1
    assert str(result.schedule) == f"tile{{loops=i sizes={result.sizes['T']}}}"
    assert not list((tmp_path / "tiles").iterdir())


def gemm_values(extent: int = 8) -> list[object]:
    c, a, b = np.zeros((40, extent)), np.ones((40, extent)), np.ones((extent, extent))
    return [40, extent, extent, c, a, b]


def test_few_tilings_are_compared_in_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tilings: list[str] = []

    def time_tiles(
        _: RunningEvaluator, schedule: Schedule, sizes: Mapping[str, int], best: float, left: float
    ) -> float:
        tilings.append(str(schedule))
        return float("inf") if len(tilings) == 1 else 1.0

    monkeypatch.setattr(RunningEvaluator, "time_tiles", time_tiles)
    monkeypatch.setattr(tiles, "COMPARING", 0.0)
    options = TileOptions(threads=1, budget=30.0, keep=False, share=0.001)
    tune_tiles(load(GEMM)["gemm"], gemm_values(), options)
    assert len(set(tilings)) == 2  # the first one cannot be run


def test_a_comparison_of_tilings_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "tuning.sqlite"))
    asked: list[tuple[str, str]] = []
    interrupted_at = 3

    def time_tiles(
        _: RunningEvaluator, schedule: Schedule, sizes: Mapping[str, int], best: float, left: float
    ) -> float:
        asked.append((str(schedule), str(sizes)))
        if len(asked) == interrupted_at:
            raise KeyboardInterrupt
        return 1.0

    monkeypatch.setattr(RunningEvaluator, "time_tiles", time_tiles)
    options = TileOptions(threads=1, share=0.001)
    with pytest.raises(KeyboardInterrupt):
        tune_tiles(load(GEMM)["gemm"], gemm_values(), options)
    assert len(set(asked)) == 3
    tune_tiles(load(GEMM)["gemm"], gemm_values(), options)
    assert len(asked) == len(set(asked)) + 1, "only what was interrupted is asked again"
    assert not list((tmp_path / "tiles").iterdir())


def test_a_program_without_end_ends_with_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "FIRST_PATIENCE", 2.0)
    program = load(
        """
        func.func @quotients(%n: index, %A: memref<257xf64>) {
          affine.for %i = 0 to %n {
            affine.for %j = 1 to 257 {
              %a = affine.load %A[%j - 1] : memref<257xf64>
              %b = affine.load %A[%j] : memref<257xf64>
              %c = arith.divf %a, %b : f64
              affine.store %c, %A[%j] : memref<257xf64>
            }
          }
          return
        }"""
    )["quotients"]
    options = TileOptions(threads=1, budget=0.5, keep=False)
    with pytest.raises(EvaluationError, match="give it more time with --budget"):
        tune_tiles(program, [2**62, np.ones(257)], options)


def test_no_size_can_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def time_tiles(*_: object) -> float:
        return float("inf")

    monkeypatch.setattr(RunningEvaluator, "time_tiles", time_tiles)
    options = TileOptions("tile{loops=i sizes=T}", threads=1, keep=False)
    with pytest.raises(EvaluationError, match="no tile size could be run"):
        tune_tiles(load(GEMM)["gemm"], gemm_values(), options)


def test_an_interrupt_before_the_first_size_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def time_tiles(*_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(RunningEvaluator, "time_tiles", time_tiles)
    options = TileOptions("tile{loops=i sizes=T}", threads=1, keep=False)
    with pytest.raises(KeyboardInterrupt):
        tune_tiles(load(GEMM)["gemm"], gemm_values(), options)


def test_a_program_that_is_slow_as_written_has_its_tiles_tuned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluator, "AS_WRITTEN", 1e-9)
    options = TileOptions("tile{loops=i sizes=T}", threads=1, budget=60.0, keep=False)
    result = tune_tiles(load(GEMM)["gemm"], gemm_values(600), options)
    assert result.bound == pytest.approx(60e-9)
    assert result.seconds < 1.0 and result.default


@pytest.mark.parametrize("loops", ["i", "i,j"])
def test_points_are_proposed_for_one_loop_and_for_two(loops: str) -> None:
    function = load(GEMM)["gemm"]
    names = ",".join("TS"[: len(loops.split(","))])
    tiling = function.schedule(f"tile{{loops={loops} sizes={names}}}")
    sizes = {"ni": 40, "nj": 20, "nk": 8}
    space = TileSpace.usual(extents(tiling, sizes))
    points = promising_points(function.schedule(), tiling, space, SchedulingContext(sizes, 1))
    assert 1 < len(points) == len(set(points)) <= len(space.points)
    assert space.near([40, 20][: len(space.sizes)]) in points  # all in one tile


def test_nothing_to_tune() -> None:
    with pytest.raises(EvaluationError, match="leaves no tile size open"):
        tune_tiles(
            load(DOT)["dot"], [4, np.ones(4), np.ones(4)], TileOptions("tile{loops=i sizes=4}")
        )
