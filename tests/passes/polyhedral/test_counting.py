"""Closed-form counts against enumeration, and extents inferred from accesses."""

from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.runtime_programs import GEMM

import loopwright
from loopwright.passes.polyhedral.counting import (
    UncountableError,
    cardinality,
    floating_point_operations,
    has_at_most,
)
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.isl_context import bounded
from loopwright.passes.polyhedral.scop import Scop

STENCIL = """
func.func @stencil(%n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %i = 1 to affine_map<(d0) -> (d0 - 1)>(%n) {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 3)>(%i) {
      %0 = affine.load %A[%i - 1, %j + 2] : memref<?x?xf32>
      %1 = affine.load %A[%i + 1, 2 * %j] : memref<?x?xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %B[%i, 7] : memref<?x?xf32>
    }
  }
  return
}
"""

BY_DIMENSION = """
func.func @copy(%A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : memref<?x?xf32>
  %m = memref.dim %A, %c1 : memref<?x?xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i, %j] : memref<?x?xf32>
      affine.store %0, %B[%j, %i] : memref<?x?xf32>
    }
  }
  return
}
"""


def scop_of(text: str) -> Scop:
    (function,) = loopwright.load(text).values()
    return function.scop


@pytest.mark.parametrize(
    ("points", "count"),
    [
        ("{ S[] }", 1),
        ("{ S[i] : 1 = 0 }", 0),
        ("{ S[i] : 3 <= i < 10 }", 7),
        ("{ S[i, j] : 0 <= i < 1000000 and 0 <= j < 2000000 }", 2 * 10**12),
        ("{ S[i, j] : 0 <= i < 100000000000000000000 and j = 3 }", 10**20),
        ("{ S[i, j] : 0 <= i < 1000 and 0 <= j <= i }", 500500),
        ("{ S[i, j] : -5 <= i <= 5 and i <= j <= -i }", 36),
        ("{ S[i, j] : 0 <= i < 10 and 0 <= j < 10 and (j < i or j > i) }", 90),
        ("{ S[i] : 0 <= i < 9 and i mod 2 = 0 }", 5),
        ("{ S[i, j] : 0 <= i < 12 and 0 <= j < 10 and i mod 4 = 1 }", 30),
    ],
)
def test_counts(points: str, count: int) -> None:
    assert cardinality(isl.Set(points)) == count


def test_says_what_it_cannot_count() -> None:
    with pytest.raises(UncountableError):
        cardinality(isl.Set("{ [i] : i >= 0 }"))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(-2, 2)] * 3, st.integers(-4, 6)), min_size=0, max_size=4),
    st.sampled_from(["", " and (i + j) mod 2 = 0", " and (2i - k) mod 3 = 1", " and j mod 4 < 2"]),
)
def test_counts_as_enumeration_does(
    constraints: list[tuple[int, int, int, int]], gaps: str
) -> None:
    text = " and ".join(
        ["-3 <= i <= 5 and -2 <= j <= 6 and 0 <= k <= 4"]
        + [f"{a}i + {b}j + {c}k + {d} >= 0" for a, b, c, d in constraints]
    )
    text += gaps
    points = isl.Set(f"{{ [i, j, k] : {text} }}")
    try:
        counted = cardinality(points)
    except UncountableError:
        assume(False)
        return
    assert counted == points.count_val().to_python()


def test_operations() -> None:
    assert floating_point_operations(scop_of(GEMM), {"ni": 3, "nj": 4, "nk": 5}) == 2 * 60
    assert floating_point_operations(scop_of(GEMM), {"ni": 3, "nj": 0, "nk": 5}) == 0


def test_extents_are_the_smallest_that_suffice() -> None:
    assert infer_extents(scop_of(GEMM), {"ni": 3, "nj": 4, "nk": 5}) == {
        "ni": 3,
        "nj": 4,
        "nk": 5,
        "C_dim0": 3,
        "C_dim1": 4,
        "A_dim0": 3,
        "A_dim1": 5,
        "B_dim0": 5,
        "B_dim1": 4,
    }
    found = infer_extents(scop_of(STENCIL), {"n": 10})
    assert found == {"n": 10, "A_dim0": 10, "A_dim1": 21, "B_dim0": 9, "B_dim1": 8}


def test_extents_of_empty_loops() -> None:
    found = infer_extents(scop_of(STENCIL), {"n": 2})
    assert found == {"n": 2, "A_dim0": 0, "A_dim1": 0, "B_dim0": 0, "B_dim1": 0}


def test_given_extents_are_kept() -> None:
    found = infer_extents(scop_of(GEMM), {"ni": 3, "nj": 4, "nk": 5, "C_dim1": 100})
    assert found["C_dim1"] == 100


def test_extents_that_follow_from_other_extents() -> None:
    scop = scop_of(BY_DIMENSION)
    assert infer_extents(scop, {}) == {}
    assert infer_extents(scop, {"A_dim0": 5}) == {"A_dim0": 5, "B_dim1": 5}
    assert infer_extents(scop, {"A_dim0": 5, "A_dim1": 6}) == {
        "A_dim0": 5,
        "A_dim1": 6,
        "B_dim0": 6,
        "B_dim1": 5,
    }


@pytest.mark.parametrize(
    "condition",
    [
        "i < 7*floor(k/7) + 7",
        "i >= 7*floor(k/7) + 7 and j < 7*floor(k/7) + 7",
        "i >= 7*floor(k/7) + 7 and j >= 7*floor(k/7) + 7 and floor(i/5) > floor(j/3)",
    ],
)
@pytest.mark.parametrize("n", [1, 7, 30])
def test_triangles_cut_into_blocks(condition: str, n: int) -> None:
    points = isl.Set(f"{{ [i, j, k] : 0 <= k < j < i < {n} and {condition} }}")
    assert cardinality(points) == points.count_val().to_python()
    shadow = points.project_out(isl.dim_type.set, 2, 1)
    assert cardinality(shadow) == shadow.count_val().to_python()


LENGTHS = """[n, m] -> { [i0] -> [o0] : i0 mod 2 = 0 and 0 <= o0 < n and 2o0 > i0 - m
    and 15o0 >= 7i0 - 9 and 4*floor(o0/4) >= 3o0 - 1 - i0 }"""


@pytest.mark.parametrize(
    ("points", "most", "expected"),
    [
        ("{ [i] : 1 = 0 }", 0, True),
        ("{ [i] : 0 <= i < 4 }", 4, True),
        ("{ [i] : 0 <= i < 5 }", 4, False),
        ("{ [i] : i = 1 or i = 80 or i = 9000000 }", 3, True),
        ("{ [i] : i mod 1000 = 0 }", 4, False),
    ],
)
def test_few_points(points: str, most: int, expected: bool) -> None:
    assert has_at_most(isl.Set(points), most) == expected


def test_few_points_of_what_isl_counts_for_long() -> None:
    values = isl.Map(LENGTHS)
    lengths = values.lexmin().reverse().apply_range(values.lexmax()).deltas()
    with bounded(operations=2_000_000):
        assert not has_at_most(lengths.project_out(isl.dim_type.param, 0, 2), 4)
