"""Parts of loops for threads: equal shares, wherever the loop begins."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from support.scops import schedule_of

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.thread_parts import part_size
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import Loop, nests
from loopwright.passes.schedules.schedule import Schedule

SUM = """
func.func @f(%A: memref<ENDxCOLxf64>, %r: memref<f64>) {
  affine.for %i = FIRST to END {
    affine.for %j = 0 to COL {
      %0 = affine.load %r[] : memref<f64>
      %1 = affine.load %A[%i, %j] : memref<ENDxCOLxf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %r[] : memref<f64>
    }
  }
  return
}
"""


def text(first: int, end: int, columns: int = 4) -> str:
    return SUM.replace("FIRST", str(first)).replace("END", str(end)).replace("COL", str(columns))


def size(first: int, end: int, threads: int, unit: int = 1) -> int:
    original = Schedule.original(schedule_of(text(first, end)).scop)
    context = SchedulingContext(infer_extents(original.scop, {}), threads)
    statement = context.statistics(original.scop).statements["S0"]
    (nest,) = nests(original.tree)
    assert isinstance(nest, Loop)
    return part_size(statement, nest, end - first, threads, unit)


def shares(first: int, end: int, size: int, threads: int) -> list[int]:
    """Iterations of each thread: those with one part more come first."""
    parts = [
        sum(1 for i in range(first, end) if i // size == part)
        for part in range(first // size, (end - 1) // size + 1)
    ]
    share, more = divmod(len(parts), threads)
    bounds = [0]
    for thread in range(threads):
        bounds.append(bounds[-1] + share + (thread < more))
    return [sum(parts[a:b]) for a, b in pairwise(bounds)]


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("first", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("count", [60, 61, 97, 1024])
def test_no_thread_has_much_more_than_its_share(threads: int, first: int, count: int) -> None:
    chosen = size(first, first + count, threads)
    most = max(shares(first, first + count, chosen, threads))
    assert most <= 1.3 * count / threads + 1
    if first <= 1:
        assert most <= count / threads + 1 + (count / threads) // threads


@pytest.mark.parametrize(
    ("first", "end", "threads", "unit", "wanted"),
    [(0, 60, 2, 1, 30), (1, 61, 2, 1, 31), (0, 61, 2, 1, 31), (0, 60, 2, 8, 32), (0, 3, 2, 1, 2)],
)
def test_parts_are_as_few_as_threads(
    first: int, end: int, threads: int, unit: int, wanted: int
) -> None:
    assert size(first, end, threads, unit) == wanted


def test_sums_over_what_is_inside_of_borders() -> None:
    source = text(1, 401, 300)
    program = loopwright.load(source)["f"]
    chosen = default_schedule(program.scop, {}, threads=2, reassociate=True)
    (part,) = re.findall(r"strip-mine\{loops=i size=(\d+)\}", str(chosen))
    assert max(shares(1, 401, int(part), 2)) == 200
    a = np.random.default_rng(3).random((401, 300))
    total = np.zeros(())
    program.compile(str(chosen), threads=2, fast_math=True, verify=True)(a, total)
    np.testing.assert_allclose(total, a[1:].sum())
