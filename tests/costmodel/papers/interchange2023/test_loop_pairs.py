"""The workload of interchanges: every legal pair of levels, and the order as written."""

from __future__ import annotations

import pytest

from loopwright.cli import main
from loopwright.costmodel.labelled_data import RandomWorkload
from loopwright.costmodel.papers.interchange2023.workload import InterchangeWorkload
from loopwright.passes.polyhedral.schedule_tree import Loop, chains
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.space.loop_pairs import interchanges_by_levels
from loopwright.runtime.program import load

SIZES = {"n": 8}

MATRIX_PRODUCT = """
func.func @product(%n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %0 = affine.load %C[%i, %j] : memref<?x?xf32>
        %1 = affine.load %A[%i, %k] : memref<?x?xf32>
        %2 = affine.load %B[%k, %j] : memref<?x?xf32>
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %0, %3 : f32
        affine.store %4, %C[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""

DIAGONAL = """
func.func @diagonal(%n: index, %A: memref<?x?xf32>) {
  affine.for %t = 0 to 3 {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %n {
        %0 = affine.load %A[%i + 1, %j + 1] : memref<?x?xf32>
        affine.store %0, %A[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""

TWO_CHAINS = """
func.func @jacobi(%n: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  affine.for %t = 0 to 3 {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %n {
        %0 = affine.load %A[%i, %j] : memref<?x?xf32>
        affine.store %0, %B[%i, %j] : memref<?x?xf32>
      }
    }
    affine.for %k = 0 to %n {
      affine.for %l = 0 to %n {
        %0 = affine.load %B[%k, %l] : memref<?x?xf32>
        affine.store %0, %A[%k, %l] : memref<?x?xf32>
      }
    }
  }
  return
}
"""


def original(text: str) -> Schedule:
    (function,) = load(text).values()
    return Schedule.original(function.scop)


def orders(schedule: Schedule) -> list[str]:
    return ["".join(loop.name for loop in chain) for chain in chains(schedule.tree)]


def test_every_pair_and_the_order_as_written() -> None:
    start = original(MATRIX_PRODUCT)
    found = list(InterchangeWorkload(seed=3).schedules(0, start, SIZES))
    assert {origin: orders(schedule) for schedule, origin in found} == {
        "I()": ["ijk"],
        "I(L0,L1)": ["jik"],
        "I(L0,L2)": ["kji"],
        "I(L1,L2)": ["ikj"],
    }
    # The program itself is labelled with the empty schedule: no other may have that text.
    assert len({str(schedule) for schedule, _ in found} - {""}) == 4


def test_what_is_not_legal_is_left_out() -> None:
    start = original(DIAGONAL)
    found = InterchangeWorkload(0).schedules(0, start, SIZES)
    assert [origin for _, origin in found] == ["I()", "I(L1,L2)"]


def test_levels_of_several_chains_are_swapped_together() -> None:
    start = original(TWO_CHAINS)
    found = interchanges_by_levels(start.tree)
    assert list(found) == [(1, 2)]
    changed = found[1, 2].apply(start)
    assert changed is not None
    assert orders(changed) == ["t", "ji", "lk"]


def test_programs_have_one_nest() -> None:
    workload = InterchangeWorkload(seed=3)
    trees = [original(workload.instance(item).text).tree for item in range(20)]
    assert all(isinstance(tree, Loop) for tree in trees)
    assert workload.identity(1) != RandomWorkload(seed=3).identity(1)


def test_schedules_are_not_for_interchanges(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["data", "generate", "--workload", "interchange", "--schedules", "2,4"]
    assert main([*command, "--programs", "1", "-o", "nowhere"]) == 1
    assert "--schedules is for --workload random" in capsys.readouterr().err
