"""Which candidates are too large to be compiled."""

from __future__ import annotations

import pytest

from loopwright.costmodel.original import original_schedule
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.measuring import candidate_loops as module
from loopwright.runtime.measuring.candidate_loops import (
    MOST_UNROLLED,
    TooLarge,
    candidate_loops,
    unrolled_operations,
)

# Two operations that are no loads.
SUM = """
func.func @sum(%A: memref<64x64xf64>, %B: memref<64x64xf64>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %0 = affine.load %A[%i, %j] : memref<64x64xf64>
      %1 = arith.addf %0, %0 : f64
      affine.store %1, %B[%i, %j] : memref<64x64xf64>
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("steps", "copies"),
    [
        ("", 1),
        ("unroll{loops=j factor=4}", 4),
        ("vectorize{loops=j width=8}", 1),
        ("vectorize{loops=j width=8},unroll{loops=j factor=4}", 4),
        ("tile{loops=j sizes=16},unroll{loops=j}", 16),
        ("tile{loops=j sizes=16},unroll{loops=j},vectorize{loops=j width=8}", 2),
        ("tile{loops=j sizes=8},unroll{loops=j factor=32}", 8),
        ("tile{loops=i,j sizes=8,16},unroll{loops=i},unroll{loops=j}", 128),
    ],
)
def test_operations_as_often_as_they_are_unrolled(steps: str, copies: int) -> None:
    schedule = original_schedule(SUM).apply_all(parse_pipeline(steps))
    assert unrolled_operations(schedule) == 2 * copies


def test_loops_are_not_begun_where_unrolling_asks_for_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = "tile{loops=i,j sizes=8,16},unroll{loops=i},unroll{loops=j}"
    large = original_schedule(SUM).apply_all(parse_pipeline(steps))
    assert unrolled_operations(large) > MOST_UNROLLED
    sizes = infer_extents(large.scop, {})
    assert candidate_loops(large, sizes, is_of_search=True)
    monkeypatch.setattr(module, "generate", None)
    with pytest.raises(TooLarge):
        candidate_loops(large, sizes, is_of_search=False)


def test_what_takes_isl_too_long_or_has_too_many_operations_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedule = original_schedule(SUM)
    sizes = infer_extents(schedule.scop, {})
    assert candidate_loops(schedule, sizes, is_of_search=False)
    for limit in ("LARGEST", "OPERATIONS"):
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, 3)
            with pytest.raises(TooLarge):
                candidate_loops(schedule, sizes, is_of_search=False)
