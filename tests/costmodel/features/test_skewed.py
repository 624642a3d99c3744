"""Iterations of loops over sums of iterators, beside those that are counted one by one."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import islpy as isl
import pytest

from loopwright.costmodel.features.linear import LinearForms
from loopwright.costmodel.features.skewed import iterations
from loopwright.costmodel.original import original_schedule
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, path, walk
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

TIMES, SIZE = 20, 64
STENCIL = """
func.func @stencil(%n: index, %A: memref<?x?xf64>) {
  affine.for %t = 0 to 20 {
    affine.for %i = 1 to %n {
      affine.for %j = 1 to %n {
        %a = affine.load %A[%i - 1, %j] : memref<?x?xf64>
        %b = affine.load %A[%i, %j - 1] : memref<?x?xf64>
        %s = arith.addf %a, %b : f64
        affine.store %s, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
LENGTHS = (float(TIMES), SIZE - 1.0, SIZE - 1.0)

SCHEDULES = (
    "wavefront{loops=i,j factors=1,1}",
    "wavefront{loops=i,j factors=2,1}",
    "skew{loops=t,i factors=1}",
    "tile{loops=i,j sizes=8,8},wavefront{loops=it,jt factors=1,1}",
    "tile{loops=i,j sizes=4,32},wavefront{loops=it,jt factors=1,1}",
    "skew{loops=t,i factors=1},tile{loops=t,i sizes=4,8},wavefront{loops=tt,it factors=1,1}",
    "skew{loops=t,i factors=1},skew{loops=t,j factors=1},tile{loops=t,i,j sizes=4,8,8},"
    "wavefront{loops=tt,it factors=1,1}",
)


def loops_of(schedule: Schedule) -> tuple[str, tuple[Loop, ...]]:
    (leaf,) = (node for node in walk(schedule.tree) if isinstance(node, Leaf))
    found = tuple(node for node in path(schedule.tree, leaf) if isinstance(node, Loop))
    return leaf.statement, found


def counted(schedule: Schedule) -> Iterator[float]:
    """The average iterations of each loop: sets of values with it, over those without."""
    name, loops = loops_of(schedule)
    size = isl.Set(f"[n] -> {{ : n = {SIZE} }}")
    domain = schedule.scop.statement(name).domain.intersect_params(size)
    values, before = None, 1
    for loop in loops:
        function = isl.Map.from_aff(loop.schedule[name])
        values = function if values is None else values.flat_range_product(function)
        now = int(str(domain.apply(values).project_out_all_params().count_val()))
        yield now / before
        before = now


@pytest.mark.parametrize("steps", SCHEDULES)
def test_iterations_are_near_those_that_are_counted(steps: str) -> None:
    schedule = original_schedule(STENCIL).apply_all(parse_pipeline(steps))
    name, loops = loops_of(schedule)
    forms = LinearForms({"n": SIZE})
    found = [
        count for count, _ in iterations(LENGTHS, loops, [forms.of(loop, name) for loop in loops])
    ]
    assert found == pytest.approx(list(counted(schedule)), rel=0.2)
    assert prod(found) == pytest.approx(prod(LENGTHS), rel=0.01)


@pytest.mark.parametrize("steps", SCHEDULES)
def test_what_is_left_inside_multiplies_to_the_instances(steps: str) -> None:
    schedule = original_schedule(STENCIL).apply_all(parse_pipeline(steps))
    name, loops = loops_of(schedule)
    forms = LinearForms({"n": SIZE})
    done = 1.0
    for count, left in iterations(LENGTHS, loops, [forms.of(loop, name) for loop in loops]):
        done *= count
        assert done * prod(left) == pytest.approx(prod(LENGTHS), rel=0.01)
        assert all(number <= length for number, length in zip(left, LENGTHS, strict=True))


def test_along_a_wavefront_of_tiles_one_iterator_follows_from_the_other() -> None:
    steps = "tile{loops=i,j sizes=8,8},wavefront{loops=it,jt factors=1,1}"
    schedule = original_schedule(STENCIL).apply_all(parse_pipeline(steps))
    name, loops = loops_of(schedule)
    forms = LinearForms({"n": SIZE})
    left = [
        spans for _, spans in iterations(LENGTHS, loops, [forms.of(loop, name) for loop in loops])
    ]
    assert left[0] == (1.0, *LENGTHS[1:])
    assert left[1][1] == pytest.approx(8, rel=0.01) and 25 < left[1][2] < 40
    assert left[2] == pytest.approx((1.0, 8.0, 8.0))
