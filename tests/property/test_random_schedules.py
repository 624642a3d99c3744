"""Random schedules: every registered transformation is drawn, and legal for some program."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest
from support.choice import SeededChooser
from support.differential import function_of
from support.random_programs import KIND_SEEDS, seeded_program
from support.random_schedules import attempts
from support.scops import schedule_of

from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.registry import all_transformations

SCHEDULES = 200
"""Of each of two programs, in which every transformation is drawn."""

PROGRAMS = 60
"""Of which one at least has a legal use of a transformation."""

TRANSPOSITION = """func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%j, %i] : memref<?x?xf64>
      affine.store %0, %B[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""


@cache
def drawn() -> Counter[str]:
    """How often each transformation is proposed."""
    schedule = schedule_of(TRANSPOSITION)
    return Counter(
        attempt.transformation.name
        for seed in range(SCHEDULES)
        for attempt in attempts(SeededChooser(random.Random(seed)), schedule, 8)
    )


@cache
def program(seed: int) -> Schedule:
    return function_of(seeded_program(KIND_SEEDS + seed)).schedule(fast_math=True)


@pytest.mark.parametrize("name", all_transformations())
def test_every_transformation_is_drawn(name: str) -> None:
    assert drawn()[name]


@pytest.mark.parametrize("name", all_transformations())
def test_every_transformation_is_legal_at_times(name: str) -> None:
    """Alone, or behind a strip of a loop: there are partial results of strips."""
    for seed in range(PROGRAMS):
        chooser = SeededChooser(random.Random(seed))
        tried = attempts(chooser, program(seed), 6, (name, name, "strip-mine"))
        if any(each.after and each.transformation.name == name for each in tried):
            return
    pytest.fail(f"{name} is legal nowhere")
