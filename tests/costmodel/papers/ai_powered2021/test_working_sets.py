"""Working sets: known ones, by isl and by boxes, and against enumeration."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import product

import pytest
from support.choice import SeededChooser
from support.differential import function_of
from support.random_programs import seeded_program, seeded_sizes
from support.random_schedules import random_schedule
from support.scop_execution import parameter_values
from support.scops import polybench, schedule_of
from support.working_set_oracle import Key, enumerated

from loopwright.costmodel.papers.ai_powered2021.boxes import Box, union_size
from loopwright.costmodel.papers.ai_powered2021.working_sets import (
    Reuse,
    exact_working_sets,
    working_sets,
)
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.isl_context import TooComplexError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

Compute = Callable[..., tuple[Reuse, ...]]

BOTH = pytest.mark.parametrize("compute", [working_sets, exact_working_sets])

GEMM = catalogue()["gemm/gemm"].text
TILES = (
    "tile{loops=i,j,k sizes=8,8,8},interchange{loops=it,kt,jt},"
    "tile{loops=i,j,k sizes=4,2,4},interchange{loops=jt2,it2,kt2}"
)

TRIANGLE = """
func.func @f(%n: index, %C: memref<?xf64>, %A: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      %a = affine.load %A[%i, %j] : memref<?x?xf64>
      affine.store %a, %C[%j] : memref<?xf64>
    }
  }
  return
}
"""


def by_carrier(found: tuple[Reuse, ...]) -> dict[tuple[str, str | None], tuple[int, int]]:
    """Elements, nearest and farthest, by array and loop."""
    return {
        (each.array, each.carrier): (each.nearest.elements, each.farthest.elements)
        for each in found
    }


def by_kind(found: tuple[Reuse, ...]) -> dict[Key, tuple[int, int]]:
    """The same for each dependence, as the oracle has it."""
    return {
        (kind, each.source, each.target, each.array, each.carrier): (
            each.nearest.elements,
            each.farthest.elements,
        )
        for each in found
        for kind in each.kinds
    }


@BOTH
def test_matrix_multiplication_as_in_the_paper(compute: Compute) -> None:
    """Section 3.2: 2K + 3 and NK + N + 1 for the reuse of A in the loop j."""
    schedule = schedule_of(GEMM)
    m, n, k = 70, 110, 130
    found = compute(schedule.scop, schedule.tree, {"M": m, "N": n, "K": k})
    assert by_carrier(found) == {
        ("C", "k"): (5, 2 * k + 1),
        ("A", "j"): (2 * k + 3, n * k + n + 1),
        ("B", "i"): (n + k + n * k + 2, (m - 1) * (n + k) + n * k + 2),
    }
    assert all(each.nearest.bytes == 4 * each.nearest.elements for each in found)


@BOTH
def test_tiles_divide_the_reuse_of_an_array_among_their_loops(compute: Compute) -> None:
    """Within a tile of 8 columns, from one such tile to another, and for other parts of a tile."""
    schedule = schedule_of(GEMM).apply_all(parse_pipeline("tile{loops=j sizes=8}"))
    found = by_carrier(compute(schedule.scop, schedule.tree, {"M": 4, "N": 32, "K": 100}))
    assert found["A", "j"] == (2 * 100 + 3, 7 * 100 + 8 + 100 + 1)
    assert found["A", "jt"] == (8 * 100 + 8 + 100 + 2, 31 * 100 + 32 + 100 + 1)
    assert ("C", "jt") not in found


@pytest.mark.parametrize("sizes", [(9, 10, 11), (8, 16, 8), (3, 17, 1)])
def test_two_levels_of_tiles_agree_with_enumeration(sizes: tuple[int, int, int]) -> None:
    schedule = schedule_of(GEMM).apply_all(parse_pipeline(TILES))
    known = dict(zip("MNK", sizes, strict=True))
    expected = enumerated(schedule.scop, schedule.tree, known)
    assert expected
    for compute in (working_sets, exact_working_sets):
        assert by_kind(compute(schedule.scop, schedule.tree, known)) == expected


@pytest.mark.parametrize(
    ("name", "pipeline", "sizes"),
    [
        ("jacobi-2d", "", {"tsteps": 2, "n": 7}),
        ("jacobi-2d", "tile{loops=S0.i,S0.j sizes=2,3}", {"tsteps": 2, "n": 8}),
        ("2mm", "", {"ni": 3, "nj": 4, "nk": 5, "nl": 3}),
        ("seidel-2d", "", {"tsteps": 2, "n": 6}),
        ("atax", "", {"m": 4, "n": 5}),
    ],
)
def test_boxes_are_enough_for_rectangular_kernels(
    name: str, pipeline: str, sizes: Mapping[str, int]
) -> None:
    """`hull` never asks isl where all is a box, and is exact then."""
    schedule = Schedule.original(polybench(name)).apply_all(parse_pipeline(pipeline))
    found = by_kind(working_sets(schedule.scop, schedule.tree, sizes, hull=True))
    assert found == enumerated(schedule.scop, schedule.tree, dict(sizes))


def test_a_triangle_counts_as_its_box_only_when_asked() -> None:
    scop = schedule_of(TRIANGLE).scop
    sizes = {"n": 6}
    exact = by_kind(working_sets(scop, scop.tree, sizes))
    assert exact == enumerated(scop, scop.tree, sizes)
    rough = by_kind(working_sets(scop, scop.tree, sizes, hull=True))
    assert rough.keys() == exact.keys()
    assert rough != exact


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_and_schedules_agree_with_enumeration(seed: int) -> None:
    program = seeded_program(seed)
    source = random.Random(seed)
    sizes = seeded_sizes(program, source, limit=5)
    original = Schedule.original(function_of(program).scop)
    schedule = random_schedule(SeededChooser(source), original, 4)
    known = parameter_values(schedule.scop, program.make_arguments(sizes))
    expected = enumerated(schedule.scop, schedule.tree, known)
    for compute in (working_sets, exact_working_sets):
        try:
            found = compute(schedule.scop, schedule.tree, known)
        except TooComplexError:
            continue
        assert by_kind(found) == expected, f"{program.text}\n{sizes}\n{schedule}"


@pytest.mark.parametrize("seed", range(30))
def test_unions_of_boxes_have_as_many_points_as_listed(seed: int) -> None:
    source = random.Random(seed)
    dimensions = source.randint(0, 3)
    boxes: list[Box] = []
    for _ in range(source.randint(0, 8)):
        lows = [source.randint(0, 5) for _ in range(dimensions)]
        boxes.append(tuple((low, low + source.randint(0, 4)) for low in lows))
    points = {
        point for box in boxes for point in product(*(range(low, high + 1) for low, high in box))
    }
    assert union_size(boxes) == len(points)
