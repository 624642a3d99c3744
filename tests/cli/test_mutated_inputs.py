"""Mutated inputs of every kind end with an answer or one line; the campaign is tests/fuzz.py."""

from __future__ import annotations

import pytest
from support.fuzzing import KINDS, check_input
from support.pairs import SAME
from support.same_results import first_difference
from support.supervision import Verdict

PROGRAM = """func.func @f(%n: index, %A: memref<?xf64>) {
  affine.for %i = 1 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    affine.store %0, %A[%i - 1] : memref<?xf64>
  }
  return
}
"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_or_one_line(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", "off")
    told: list[str | Verdict] = []
    for seed in range(6):
        check_input(kind, seed, told.append)
    verdicts = [each for each in told if isinstance(each, Verdict)]
    assert len(verdicts) == 6
    assert all(each.verdict == SAME for each in verdicts), verdicts


def test_programs_that_differ_are_told_apart() -> None:
    assert first_difference(PROGRAM, PROGRAM) is None
    assert first_difference(PROGRAM, PROGRAM.replace("load %A[%i]", "load %A[%i - 1]")) is not None
