"""Programs with integer divisions on which isl fails, or takes too long, against enumeration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.dependence_oracle import check_dependences, program_order
from support.polyhedral_programs import scop_of
from support.random_accesses import LARGEST_SIZE, access_program, arguments

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral import dependences
from loopwright.passes.polyhedral.dependences import compute_dependences
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

FOLDER = Path(__file__).parent
SIZES = ((3, 4), (5, 3))
LIMIT = 150

# The least that made isl's dataflow analysis write outside of its memory: i has a stride, j equals
# i in A[p, j], and the guard splits the domain.
LEAST = """
func.func @f(%m: index, %x: i8, %A: memref<?x?xi8>, %B: memref<?xi8>) {
  affine.for %p = 0 to %m {
    affine.for %j = 0 to 5 {
      affine.for %i = 0 to affine_map<(d0) -> (d0 + 1)>(%j) step 2 {
        affine.store %x, %A[%j, %i] : memref<?x?xi8>
        affine.if affine_set<(d0)[s0] : (d0 - s0 + 2 >= 0)>(%j)[%m] {
          %v = affine.load %A[%p, %j] : memref<?x?xi8>
          affine.store %v, %B[%j] : memref<?xi8>
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("size", (0, 1, 3))
def test_least(size: int) -> None:
    scop = scop_of(LEAST)
    arrays = [np.zeros((8, 8), np.int8), np.zeros(8, np.int8)]
    check_dependences(scop, compute_dependences(scop), [size, 1, *arrays])


def test_equal_divisions() -> None:
    text = (FOLDER / "equal_divisions.mlir").read_text()
    found = compute_dependences(raise_module(parse_module(text))["f"])
    assert {each.kind.value for each in found} == {"flow", "anti", "output"}
    assert not any(each.memory_based for each in found)


@pytest.mark.parametrize("size", (0, 1, 2))
def test_equal_divisions_inside_of_the_arrays(size: int) -> None:
    text = (FOLDER / "equal_divisions.mlir").read_text().replace("%p = -2", "%p = -1")
    scop = raise_module(parse_module(text))["f"]
    arrays = [np.zeros(shape, np.int8) for shape in ((21, 25), 13, (4, 4))]
    check_dependences(scop, compute_dependences(scop), [size, size, 1, *arrays])


@pytest.mark.parametrize("sizes", ((1, 2), (2, 4)))
def test_many_divisions(sizes: tuple[int, int]) -> None:
    scop = raise_module(parse_module((FOLDER / "many_divisions.mlir").read_text()))["f"]
    found = compute_dependences(scop)
    assert any(each.memory_based for each in found)
    check_dependences(scop, found, [*sizes, 1.0, np.zeros((20, 20), np.float32)])


# isl ended the process when it merged the dozen pieces of a dependence, of seven quotients each.
PACKED = """
func.func @f(%N: index, %K: index, %M: index, %A: memref<3xi8>) {
  affine.for %i = -2 to affine_map<()[s0] -> (s0 - 1)>()[%N] {
    affine.for %j = -3 to %M {
      affine.for %k = affine_map<(d0) -> (((d0 * 2) mod 5) - 1)>(%i)
          to affine_map<()[s0] -> (s0 - 1)>()[%K] step 2 {
        affine.for %l = max affine_map<(d0) -> (2, d0 - 1)>(%k)
            to affine_map<(d0)[s0] -> (-d0 + s0)>(%i)[%K] step 2 {
          %v1 = arith.index_cast %j : index to i8
          %v2 = affine.load %A[((%k - %l + %M + 1) mod 2) * 2] : memref<3xi8>
          %v3 = arith.maxsi %v2, %v1 : i8
          affine.store %v3, %A[((%k - %l + %M + 1) mod 2) * 2] : memref<3xi8>
        }
      }
    }
  }
  return
}
"""


def test_pieces_with_many_quotients() -> None:
    steps = (
        "tile{loops=j,k,l sizes=16,1,2},wavefront{loops=lt,j factors=1,3},pack{loops=lt array=A}"
    )
    schedule = Schedule.original(scop_of(PACKED)).apply_all(parse_pipeline(steps))
    assert str(schedule) == steps


@pytest.mark.parametrize("memory_based", (False, True))
def test_random(memory_based: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if memory_based:
        monkeypatch.setattr(dependences, "_ATTEMPTS", 0)
    compared = 0
    for seed in range(12):
        (scop,) = raise_module(parse_module(access_program(seed))).values()
        for n, m in SIZES:
            assert max(n, m) <= LARGEST_SIZE
            values = arguments({"n": n, "m": m})
            if len(program_order(scop, values)) <= LIMIT:
                found = compute_dependences(scop)
                assert not memory_based or all(each.memory_based for each in found)
                check_dependences(scop, found, values)
                compared += bool(found.items)
    assert compared > 10


def test_too_complex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependences, "ARRAY_OPERATIONS", 50)
    scop = scop_of(LEAST)
    with pytest.raises(SourceError) as caught:
        compute_dependences(scop)
    message = "the dependences of '@f' are too complex: isl gave up after 50 operations"
    assert message in str(caught.value)
