"""The roofline: the slower of computing and of moving data, by formulas and for programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.targets import WIDE

import loopwright
from loopwright.passes.estimate.estimate import Roofline, estimate
from loopwright.passes.estimate.roofline import Ceilings, roofline
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.machine import USABLE_SHARE
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

PROGRAM = """
func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %t = 0 to 1000 {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to TO {
        %0 = affine.load %B[FROM] : memref<?x?xf64>
        %1 = arith.OPERATION %0, %0 : f64
        affine.store %1, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
EXPOSED = "loopwright.passes.estimate.estimate.EXPOSED"
CEILINGS = Ceilings(100e9, {"L1": 400e9, "DRAM": 50e9})


def test_the_slowest_part_counts() -> None:
    assert roofline(3.0, [1.0, 2.0]) == 3.0
    assert roofline(1.0, [1.0, 2.0]) == 2.0


def test_what_is_attainable_grows_with_the_intensity_up_to_the_peak() -> None:
    assert CEILINGS.attainable("DRAM", 0.5) == 25e9
    assert CEILINGS.attainable("DRAM", 2.0) == CEILINGS.attainable("DRAM", 20.0) == 100e9
    assert CEILINGS.attainable("L1", 0.25) == 100e9


def test_the_least_seconds_are_those_of_work_or_of_traffic() -> None:
    assert CEILINGS.least_seconds(10**9, 8, "DRAM") == pytest.approx(0.01)
    assert CEILINGS.least_seconds(8, 10**9, "DRAM") == pytest.approx(0.02)
    assert replace(CEILINGS, peak=None).least_seconds(10**9, 0, "L1") == 0.0


def seconds(
    operation: str, size: int, at: str, steps: str, threads: int, to: str = "%n", **figures: Any
) -> float:
    """Estimated for a machine that differs from `WIDE` by some figures."""
    text = PROGRAM.replace("OPERATION", operation).replace("FROM", at).replace("TO", to)
    scop = loopwright.load(text)["f"].scop
    schedule = Schedule.original(scop, replace(WIDE, **figures)).apply_all(parse_pipeline(steps))
    return estimate(schedule, SchedulingContext(infer_extents(scop, {"n": size}), threads))


VECTORS = "vectorize{loops=j width=8}"
SMALL, LARGE = 32, 4096
"""Two matrices of 8 KiB, and two of 128 MiB."""


@pytest.mark.parametrize(
    ("operation", "size", "at", "steps", "threads", "figures", "factor"),
    [
        ("addf", SMALL, "%i, %j", VECTORS, 1, {"hertz": WIDE.hertz / 2}, 2),
        ("addf", LARGE, "%i, %j", VECTORS, 1, {"hertz": WIDE.hertz / 2}, 1),
        ("addf", SMALL, "%i, %j", VECTORS, 1, {"stores_per_cycle": 0.5}, 2),
        ("addf", SMALL, "%i, %j", VECTORS, 1, {"loads_per_cycle": 0.5}, 2),
        ("addf", SMALL, "%i, %j", VECTORS, 1, {"cache_line": 128}, 1.5 / 2),
        ("addf", SMALL, "%j, %i", VECTORS, 1, {"gather_cycles": 2 * WIDE.gather_cycles}, 2),
        (
            *("divf", SMALL, "%i, %j", VECTORS, 1),
            {"cycles": {**WIDE.cycles, "divisions": 16.0}},
            2,
        ),
        (
            *("addf", LARGE, "%i, %j", VECTORS, 1),
            {"bandwidths": {level: rate / 2 for level, rate in WIDE.bandwidths.items()}},
            2,
        ),
        ("addf", LARGE, "%i, %j", VECTORS, 1, {"memory_bandwidth": 10e9}, 3),
    ],
)
def test_programs_take_as_long_as_the_machine_says(
    operation: str,
    size: int,
    at: str,
    steps: str,
    threads: int,
    figures: dict[str, Any],
    factor: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What bounds them, without a part of the rest."""
    monkeypatch.setattr(EXPOSED, 0.0)
    usual = seconds(operation, size, at, steps, threads)
    assert seconds(operation, size, at, steps, threads, **figures) == pytest.approx(factor * usual)


@pytest.mark.parametrize("figures", [{"hertz": WIDE.hertz / 2}, {"memory_bandwidth": 10e9}])
def test_a_part_of_what_does_not_bound_them_is_added(
    figures: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slower core adds it to a large program; a slower memory, which bounds it, adds all."""
    run = ("addf", LARGE, "%i, %j", VECTORS, 1)
    added: list[float] = []
    for part in (0.0, 0.25, 1.0):
        monkeypatch.setattr(EXPOSED, part)
        added.append(seconds(*run, **figures) - seconds(*run))
    none, quarter, whole = added
    if "hertz" in figures:
        assert none == pytest.approx(0.0)
        assert quarter == pytest.approx(whole / 4) and whole > 0
    else:
        assert none == pytest.approx(quarter) == pytest.approx(whole) and none > 0


def test_threads_are_started_and_woken() -> None:
    run = ("addf", SMALL, "%i, %j", f"{VECTORS},parallel{{loops=i}}")
    usual = seconds(*run, 2)
    assert seconds(*run, 2, fork_join=WIDE.fork_join + 1.0) == pytest.approx(usual + 1000)
    assert seconds(*run, 2, thread_wake=WIDE.thread_wake + 1.0) == pytest.approx(usual + 1.0)
    assert seconds(*run, 1, fork_join=1.0, thread_wake=1.0) < usual


@pytest.mark.parametrize(
    ("at", "room", "is_shared_out"), [("%i, %j", 1.2, True), ("%j, %j", 0.6, False)]
)
def test_a_thread_finds_its_part_of_arrays_in_the_caches_of_its_core(
    at: str, room: float, is_shared_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it reads all of a diagonal, that leaves no `room` for half of the result."""
    monkeypatch.setattr(EXPOSED, 0.0)
    size, bandwidths = 64, {**WIDE.bandwidths, 2: 1e8}
    matrix = 8 * size**2
    caches = {**WIDE.caches, 2: int(room * matrix / USABLE_SHARE)}

    def slower(threads: int, steps: str) -> float:
        """By which factor, with slow transfers from the third level."""
        run = ("addf", size, at, steps, threads)
        slow = seconds(*run, caches=caches, bandwidths=bandwidths)
        return slow / seconds(*run, caches=caches)

    shared = f"{VECTORS},parallel{{loops=i}}"
    assert slower(1, VECTORS) > 2
    assert (slower(2, shared) == pytest.approx(1.0)) == is_shared_out


def test_of_a_triangle_and_a_diagonal_the_caches_hold_what_is_touched() -> None:
    """Half of a matrix, and a line of each row."""
    size, bandwidths = 256, {**WIDE.bandwidths, 2: 1e8}
    matrix = 8 * size**2

    def slower(to: str, room: float) -> float:
        """By which factor, with slow transfers from the third level and a cache for so much."""
        caches = {**WIDE.caches, 2: int(room * matrix / USABLE_SHARE)}
        slow, usual = (
            seconds("addf", size, "%j, %j", "", 1, caches=caches, to=to, **figures)
            for figures in ({"bandwidths": bandwidths}, {})
        )
        return slow / usual

    assert slower("%i", 0.6) == pytest.approx(1.0) and slower("%i", 0.4) > 2
    assert slower("%n", 1.1) == pytest.approx(1.0) and slower("%n", 0.9) > 2


def test_the_cost_model_tells_how_many_times_as_fast_a_schedule_is() -> None:
    scop = loopwright.load(
        PROGRAM.replace("OPERATION", "addf").replace("FROM", "%i, %j").replace("TO", "%n")
    )["f"].scop
    sizes = infer_extents(scop, {"n": SMALL})
    before = Schedule.original(scop, WIDE)
    after = before.apply_all(parse_pipeline("interchange{loops=j,i}"))
    same, slower = Roofline().predict(SchedulingContext(sizes, 1), [before, after])
    assert same == pytest.approx(1.0)
    ratio = estimate(before, SchedulingContext(sizes, 1)) / estimate(
        after, SchedulingContext(sizes, 1)
    )
    assert slower == pytest.approx(ratio) and slower < 1.0
    assert Roofline().predict(SchedulingContext(sizes, 1), []) == []
