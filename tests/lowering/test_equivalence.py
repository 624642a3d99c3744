"""Generated loops are proved to be the program by what they compute, for all sizes at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.scops import polybench
from support.standard_schedules import applied, chain_names, interchange

from loopwright.lowering.generate import generate
from loopwright.passes.polyhedral.equivalence.equivalence import compare
from loopwright.passes.polyhedral.equivalence.parameters import with_parameters_of
from loopwright.passes.polyhedral.raising.raise_function import raise_function
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.tile import Tile
from loopwright.passes.transformations.unroll import Unroll


def tiled(schedule: Schedule) -> Schedule:
    for names in chain_names(schedule):
        schedule = applied(schedule, Tile(names, (4,) * len(names)))
    return schedule


def unrolled(schedule: Schedule) -> Schedule:
    for names in chain_names(schedule):
        schedule = applied(schedule, Unroll((names[-1],), 3))
    return schedule


CASES: dict[Callable[[Schedule], Schedule], tuple[str, ...]] = {
    tiled: ("gemm", "2mm", "trmm", "syrk", "atax", "mvt", "gesummv", "trisolv", "jacobi-1d"),
    interchange: ("gemm", "syr2k", "fdtd-2d", "heat-3d"),
    unrolled: ("gemm", "trmm", "floyd-warshall"),
}


@pytest.mark.parametrize(
    ("change", "name"), [(change, name) for change, names in CASES.items() for name in names]
)
def test_generated_loops(change: Callable[[Schedule], Schedule], name: str) -> None:
    scop = polybench(name)
    schedule = change(Schedule.original(scop))
    assert schedule.transformations
    generated = with_parameters_of(raise_function(generate(schedule, {})), scop)
    comparison = compare(scop, generated)
    assert comparison.is_proved, comparison.reason
