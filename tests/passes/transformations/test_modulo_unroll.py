"""Modulo unrolling: the statements of each remainder, results, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from support.alternating_programs import parity, planes
from support.scops import schedule_of

import loopwright
from loopwright.passes.polyhedral.descriptions import describe_tree
from loopwright.passes.schedules.errors import MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

# Rows that differ by a remainder, with a step of the loop, and a statement in every iteration.
MIXED = """
func.func @f(%steps: index, %n: index, %A: memref<?xi32>, %B: memref<?xi32>) {
  affine.for %t = 1 to %steps step 2 {
    affine.for %i = 1 to %n {
      affine.if affine_set<(d0) : (d0 mod 3 == 0)>(%t) {
        %0 = affine.load %A[%i - 1] : memref<?xi32>
        affine.store %0, %B[%i] : memref<?xi32>
      }
      %1 = affine.load %B[%i - 1] : memref<?xi32>
      %2 = arith.index_cast %t : index to i32
      %3 = arith.addi %1, %2 : i32
      affine.store %3, %A[%i] : memref<?xi32>
    }
  }
  return
}
"""


def unrolled(text: str, pipeline: str = "modulo-unroll{loops=t}") -> Schedule:
    return schedule_of(text).apply_all(parse_pipeline(pipeline))


def test_conditions_are_gone() -> None:
    schedule = unrolled(parity())
    assert str(schedule) == "modulo-unroll{loops=t factor=2}"
    assert describe_tree(schedule.scop, schedule.tree).splitlines() == [
        "for t",
        "  for i = i1",
        "    for j = i2",
        "      S0(t, i, j): B[i, j] from A[i - 1, j], A[i, j + 1], A[i, j]",
        "  for i = i1",
        "    for j = i2",
        "      S1_2(t, i, j): A[i, j] from B[i - 1, j], B[i, j + 1], B[i, j]",
    ]


def test_planes_are_constants() -> None:
    schedule = unrolled(planes(3, first=4))
    assert [str(s.writes[0].map.results[0]) for s in schedule.scop.statements] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "text",
    [
        *(parity(kind, first) for kind in ("f64", "i32") for first in (0, 1)),
        *(planes(count, "i32", first) for count in (2, 3, 4) for first in (0, 5)),
        MIXED,
    ],
)
@pytest.mark.parametrize(
    "pipeline",
    [
        "modulo-unroll{loops=t}",
        "modulo-unroll{loops=t},affine-schedule",
        "modulo-unroll{loops=t},split{loops=t at=1},modulo-unroll{loops=S0.t factor=2}",
    ],
)
def test_results_stay(text: str, pipeline: str) -> None:
    function = loopwright.load(text)["f"]
    try:
        kernel = function.compile(pipeline, threads=1, verify=True)
    except MalformedTransformation:
        assert "split" in pipeline
        return
    written = function.compile(None)
    generator = np.random.default_rng(len(text))
    kind = np.float64 if "f64" in text else np.int32
    arrays = function.scop.arrays
    for steps, n in ((0, 5), (1, 4), (2, 7), (3, 9), (7, 8), (12, 6), (13, 17)):
        given = [
            generator.integers(
                -9, 9, [each if isinstance(each, int) else n for each in array.shape]
            ).astype(kind)
            for array in arrays
        ]
        others = [array.copy() for array in given]
        kernel(steps, n, *given)
        written(steps, n, *others)
        for array, other in zip(given, others, strict=True):
            np.testing.assert_array_equal(array, other)
    assert kernel.verdict is not None
    assert kernel.verdict.is_proved


def test_a_factor_is_any_number_of_iterations() -> None:
    statements = unrolled(planes(3, "i32"), "modulo-unroll{loops=t factor=2}").scop.statements
    assert [str(s.reads[-1].map.results[0]) for s in statements] == [
        "((d0 * 2) mod 3)",
        "(((d0 * 2) + 1) mod 3)",
    ]


@pytest.mark.parametrize(
    ("text", "pipeline", "message"),
    [
        (parity(), "modulo-unroll{loops=S0.i}", "there is no period|must be an outermost loop"),
        (parity(), "modulo-unroll{loops=t factor=9}", "from 2 to 8: not 9"),
        (parity().replace("mod 2", "mod 16"), "modulo-unroll{loops=t}", "from 2 to 8: not 16"),
        (
            parity(),
            "tile{loops=S0.i,S0.j sizes=4,4},modulo-unroll{loops=S0.it factor=2}",
            "must be an outermost loop",
        ),
    ],
)
def test_what_is_refused(text: str, pipeline: str, message: str) -> None:
    with pytest.raises(MalformedTransformation, match=message):
        unrolled(text, pipeline)
