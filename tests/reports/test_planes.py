"""Planes of iteration spaces against instances that are enumerated one by one."""

from __future__ import annotations

import re

import numpy as np
import pytest

import loopwright
from loopwright.passes.schedules.schedule import Schedule
from loopwright.reports.neighbourhood import draw_neighbourhood
from loopwright.reports.planes import MOST_CELLS, Plane, groups, loop_values, order, planes
from loopwright.reports.views import views

TRIANGLE = """
func.func @triangle(%n: index, %A: memref<?x?xf64>) {
  affine.for %i = 1 to %n {
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      %0 = affine.load %A[%i - 1, %j] : memref<?x?xf64>
      affine.store %0, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""


def schedule_of(text: str, pipeline: str) -> Schedule:
    program = loopwright.load(text)
    return next(iter(program.values())).schedule(pipeline)


def one_plane(schedule: Schedule, sizes: dict[str, int]) -> Plane:
    (statement,) = schedule.scop.statements
    (plane,) = planes(schedule.scop, statement, schedule.tree, sizes, 1)
    return plane


def test_the_cells_are_the_instances() -> None:
    plane = one_plane(schedule_of(TRIANGLE, ""), {"n": 9})
    found = {
        plane.point(row, column)
        for row, column in zip(*(each.tolist() for each in plane.present.nonzero()), strict=True)
    }
    assert found == {(i, j) for i in range(1, 9) for j in range(i)}


@pytest.mark.parametrize("pipeline", ["tile{loops=i,j sizes=3,2}", "interchange{loops=j,i}"])
def test_the_order_is_that_of_the_loops(pipeline: str) -> None:
    schedule = schedule_of(TRIANGLE, pipeline)
    plane = one_plane(schedule, {"n": 9})
    rank = order(loop_values(schedule.scop, schedule.tree, plane), plane.present)
    instances = [(i, j) for i in range(1, 9) for j in range(i)]
    if "tile" in pipeline:
        instances.sort(key=lambda p: (p[0] // 3, p[1] // 2, p))
    else:
        instances.sort(key=lambda p: (p[1], p[0]))
    cells = {
        int(rank[row, column]): plane.point(row, column)
        for row in range(rank.shape[0])
        for column in range(rank.shape[1])
        if rank[row, column] >= 0
    }
    assert [cells[number] for number in sorted(cells)] == instances


def test_tiles_have_borders_and_colours_of_their_own() -> None:
    schedule = schedule_of(TRIANGLE, "tile{loops=i,j sizes=3,2}")
    plane = one_plane(schedule, {"n": 9})
    first = next(views(schedule, schedule_of(TRIANGLE, ""), plane))
    assert first.name == "tiles" and first.borders
    numbers: dict[int, set[tuple[int, int]]] = {}
    for row, column in zip(*(each.tolist() for each in plane.present.nonzero()), strict=True):
        i, j = plane.point(row, column)
        numbers.setdefault(int(first.groups[row, column]), set()).add((i // 3, j // 2))
    assert all(len(tiles) == 1 for tiles in numbers.values())
    assert len(numbers) == len({tile for tiles in numbers.values() for tile in tiles})
    for row in range(plane.present.shape[0]):
        for column in range(1, plane.present.shape[1]):
            one, other = (int(first.groups[row, c]) for c in (column - 1, column))
            if min(one, other) >= 0 and one != other:
                assert first.colour(one) != first.colour(other)


def test_a_loop_over_instances_and_tiles_counts_no_tiles() -> None:
    schedule = schedule_of(TRIANGLE, "strip-mine{loops=j size=2},wavefront{loops=i,jt factors=1,1}")
    plane = one_plane(schedule, {"n": 9})
    first = next(views(schedule, schedule_of(TRIANGLE, ""), plane))
    assert (first.name, first.explanation) == ("tiles", "Each colour is one iteration of jt.")


def test_large_tiles_are_looked_at_from_further_away() -> None:
    schedule = schedule_of(TRIANGLE, "tile{loops=i,j sizes=100,100}")
    plane = one_plane(schedule, {"n": 1000})
    assert plane.rows is not None
    assert plane.columns.step > 1 and max(plane.present.shape) <= MOST_CELLS
    tiles = {value // 100 for value in plane.rows.values}
    assert len(tiles) >= 2


@pytest.mark.parametrize("pipeline", ["", "tile{loops=i,j sizes=100,100}"])
def test_what_depends_on_an_instance_is_drawn_beside_it(pipeline: str) -> None:
    schedule = schedule_of(TRIANGLE, pipeline)
    plane = one_plane(schedule, {"n": 1000})
    drawing = draw_neighbourhood(schedule.scop, plane, list(schedule.dependences))
    # A[i, j] is read by the next row; what is copied there is in no way dependent otherwise.
    assert drawing.count('class="arrow flow"') == 1 + 1, "the arrow and its legend"
    assert "arrow anti" not in drawing and "arrow output" not in drawing
    assert drawing.count('class="cell') == 3 * 3


def test_sizes_that_are_not_known_are_chosen() -> None:
    plane = one_plane(schedule_of(TRIANGLE, ""), {})
    assert plane.sizes["n"] > 1 and plane.present.any()


def test_an_empty_domain_has_no_plane() -> None:
    schedule = schedule_of(TRIANGLE, "")
    (statement,) = schedule.scop.statements
    assert planes(schedule.scop, statement, schedule.tree, {"n": 1}, 3) == []


def test_groups_are_numbered_in_order() -> None:
    present = np.array([[True, True, False]])
    grids = [np.array([[5, 3, 0]])]
    assert groups(grids, present).tolist() == [[1, 0, -1]]


@pytest.mark.parametrize("name", ["i", "a_long_name"])
def test_labels_of_rows_lie_in_the_picture(name: str) -> None:
    text = TRIANGLE.replace("%i", f"%{name}").replace("1 to %n", "1000 to %n")
    schedule = schedule_of(text, "")
    plane = one_plane(schedule, {"n": 1100})
    drawing = draw_neighbourhood(schedule.scop, plane, list(schedule.dependences))
    labels = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="end"[^>]*>([^<]+)<', drawing)
    assert labels[0][1].startswith(f"{name}=10")
    assert all(float(x) >= 6 * len(label) for x, label in labels)
