"""Verdicts on random transformations of random programs agree with enumeration, both ways."""

from __future__ import annotations

import contextlib
import random

import pytest
from support import oracle
from support.choice import SeededChooser
from support.random_programs import seeded_program
from support.random_schedules import Attempt, attempts
from support.scop_execution import Instance, parameter_values

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.schedule_tree import Loop
from loopwright.passes.polyhedral.scop import AccessKind, Scop
from loopwright.passes.schedules.errors import IllegalTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.schedules.violation import Reason, Violation

# Above this, comparing all pairs takes too long.
MOST_INSTANCES = 150


def check(seed: int) -> int:
    """Five transformations of one program; how many verdicts have been compared."""
    try:
        return check_program(seed)
    except AssertionError as error:
        error.add_note(f"to see it again: check({seed})")
        raise


def check_program(seed: int) -> int:
    """The verdicts on five transformations of one program that have been compared."""
    program = seeded_program(seed)
    scop = raise_module(parse_module(program.text))["f"]
    size = random.Random(seed).choice((2, 3, 4, 5))
    arguments = program.make_arguments(dict.fromkeys(program.sizes, size))
    sizes = parameter_values(scop, arguments)
    chooser = SeededChooser(random.Random(seed))
    small = len(oracle.instances(scop, sizes)) <= MOST_INSTANCES
    conflicts = oracle.conflicts(scop, sizes) if small else []
    compared = 0
    for attempt in attempts(chooser, Schedule.original(scop), 5):
        if isinstance(attempt.error, IllegalTransformation):
            compared += check_witness(attempt)
        elif attempt.after is not None:
            if attempt.after.scop is not scop:
                scop = attempt.after.scop
                small = len(oracle.instances(scop, sizes)) <= MOST_INSTANCES
                conflicts = oracle.conflicts(scop, sizes) if small else []
            for conflict in conflicts:
                assert oracle.respects(scop, attempt.after.tree, conflict, sizes), (
                    f"{attempt.after} runs {conflict.second} before {conflict.first} at {sizes} "
                    f"in\n{program.text}"
                )
            compared += small
    return compared


def check_witness(attempt: Attempt) -> bool:
    """The pair that an error names conflicts, and would run in the wrong order.

    False where the pair is between statements that the transformation has added.
    """
    assert isinstance(attempt.error, IllegalTransformation)
    violation = attempt.error.violation
    if violation.reason is Reason.ELSEWHERE:
        check_value(attempt.before.scop, violation)
        return True
    scop, tree = attempt.transformation.resolve(attempt.before).rewrite_program(attempt.before)
    if not {violation.dependence.source, violation.dependence.target} <= {
        statement.name for statement in scop.statements
    }:
        return False
    first, second, sizes = pair(violation)
    assert oracle.order(scop.tree, first, second, sizes) is oracle.Order.BEFORE, attempt.error
    found = [
        conflict
        for conflict in oracle.conflicts_of(scop, first, second, sizes)
        if not oracle.respects(scop, tree, conflict, sizes)
    ]
    assert found, f"{attempt.error}\nof {attempt.before}"
    return True


def check_value(scop: Scop, violation: Violation) -> None:
    """The first instance writes what the second one reads."""
    first, second, sizes = pair(violation)
    assert oracle.order(scop.tree, first, second, sizes) is oracle.Order.BEFORE
    kinds = [conflict.kinds for conflict in oracle.conflicts_of(scop, first, second, sizes)]
    assert (AccessKind.WRITE, AccessKind.READ) in kinds


def pair(violation: Violation) -> tuple[Instance, Instance, dict[str, int]]:
    """The instances that show a violation, and the sizes."""
    witness = violation.witness()
    return (
        (violation.dependence.source, tuple(value for _, value in witness.source)),
        (violation.dependence.target, tuple(value for _, value in witness.target)),
        dict(witness.sizes),
    )


@pytest.mark.parametrize("seed", range(60))
def test_verdicts_agree_with_enumeration(seed: int) -> None:
    check(seed)


@pytest.mark.campaign
@pytest.mark.parametrize("start", range(100_000, 2_100_000, 100_000))
def test_a_thousand_verdicts(start: int) -> None:
    compared = 0
    for seed in range(start, start + 100_000):
        # What is refused as too complex has no verdicts.
        with contextlib.suppress(SourceError):
            compared += check(seed)
        if compared >= 1000:
            return
    raise AssertionError(f"only {compared} verdicts")


def test_a_nest_is_legal_for_the_loops_around_it() -> None:
    """What carries a dependence around a nest makes it legal; that is not remembered without."""
    text = """
    func.func @f(%n: index, %A: memref<?x?xf64>) {
      affine.for %i = 1 to %n {
        affine.for %j = 0 to %n {
          %a = affine.load %A[%i - 1, %j + 1] : memref<?x?xf64>
          affine.store %a, %A[%i, %j] : memref<?x?xf64>
        }
      }
      return
    }
    """
    (scop,) = raise_module(parse_module(text)).values()
    schedule = Schedule.original(scop)
    outer = schedule.tree
    assert isinstance(outer, Loop) and isinstance(outer.body, Loop)
    around = schedule.legality.inside(frozenset(), outer)
    for _ in range(2):
        assert schedule.legality.first_violation(outer.body, around) is None
        violation = schedule.legality.first_violation(outer.body)
        assert violation is not None and violation.reason is Reason.BACKWARD
