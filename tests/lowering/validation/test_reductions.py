"""The steps of reductions run in another order only where the numerics rule allows it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.scops import schedule_of
from support.validation import generated, kept_dependences, verdict

from loopwright.lowering.nest.index_expression import Index
from loopwright.lowering.nest.nest import Call, For
from loopwright.lowering.validation.kept_dependences import KeptDependences
from loopwright.lowering.validation.validate import validate
from loopwright.lowering.validation.verdict import Property, Verdict
from loopwright.passes.polyhedral.dependences import compute_dependences
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text

SUM = """
func.func @sum(%n: index, %A: memref<?x?xKIND>, %s: memref<?xKIND>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %c = affine.load %s[%i] : memref<?xKIND>
        %a = affine.load %A[%j, %k] : memref<?x?xKIND>
        %d = STEP %c, %a : KIND
        affine.store %d, %s[%i] : memref<?xKIND>
      }
    }
  }
  return
}
"""


def original(kind: str, step: str, *, reassociate: bool = False) -> Schedule:
    (scop,) = [schedule_of(SUM.replace("KIND", kind).replace("STEP", step)).program]
    return Schedule.original(scop, reassociate=reassociate)


def with_swapped_loops(schedule: Schedule) -> Verdict:
    """What validation says when the two inner loops of the nest change places."""
    nest = generated(schedule, {})
    assert isinstance(nest.nest, For)
    outer = nest.nest.body
    assert isinstance(outer, For) and isinstance(outer.body, For)
    swapped = replace(outer.body, body=replace(outer, body=outer.body.body))
    changed = replace(nest, nest=replace(nest.nest, body=swapped))
    return validate(kept_dependences(schedule), changed)


@pytest.mark.parametrize(
    ("kind", "step", "reassociate", "expected"),
    [
        ("f64", "arith.addf", False, False),
        ("f64", "arith.addf", True, True),
        ("f64", "arith.maximumf", False, True),
        ("i32", "arith.addi", False, True),
        ("i32", "arith.xori", False, True),
        ("i32", "arith.divsi", True, False),
    ],
)
def test_another_order(kind: str, step: str, reassociate: bool, expected: bool) -> None:
    verdict = with_swapped_loops(original(kind, step, reassociate=reassociate))
    assert verdict.is_proved == expected
    if verdict.violation is not None:
        assert verdict.violation.property is Property.ORDER


@pytest.mark.parametrize(
    "steps",
    [
        "rfactor{loops=k}",
        "rfactor{loops=j}",
        "rfactor{loops=j},rfactor{loops=combine_s.j}",
        "strip-mine{loops=k size=4},rfactor{loops=k},rfactor{loops=kt}",
        "rfactor{loops=j},pack{loops=i array=s}",
        "pack{loops=i array=s},rfactor{loops=k}",
    ],
)
def test_partial_results(steps: str) -> None:
    schedule = apply_text(steps, original("f64", "arith.addf", reassociate=True))
    kept = kept_dependences(schedule)
    nest = generated(schedule, {})
    assert str(validate(kept, nest)) == "proved"
    # Without the user's permission the same code is wrong.
    strict = KeptDependences(compute_dependences(schedule.program), reassociate=False)
    verdict = validate(strict, nest)
    assert verdict.violation is not None
    assert verdict.violation.property is Property.ORDER


# One instance loads its element a second time: i = n - 3, for n = 36 to 40.
ALIAS = """
func.func @f(%n: index, %s: memref<?xi16>) {
  affine.for %i = -3 to affine_map<()[s0] -> (s0 - 2)>()[%n] {
    %a = affine.load %s[-%i * 2 + %n * 2 + 4] : memref<?xi16>
    %c = affine.load %s[(%n ceildiv 5) + 2] : memref<?xi16>
    %d = arith.addi %c, %a : i16
    affine.store %d, %s[(%n ceildiv 5) + 2] : memref<?xi16>
  }
  return
}
"""


def test_steps_that_load_nothing_else_of_their_element() -> None:
    """They may run in any order; the instance that does stays where it is among them."""
    schedule = apply_text("split{loops=i at=3},reverse{loops=S0.i}", schedule_of(ALIAS))
    for n in (37, 30, 4):
        assert verdict(schedule, {"n": n}).is_proved
    program = Schedule.original(schedule.program)
    nest = generated(program, {"n": 37})
    assert isinstance(nest.nest, For) and isinstance(nest.nest.body, Call)
    backwards = Call(nest.nest.body.statement, (Index.variable(nest.nest.variable) * -1 + 31,))
    changed = replace(nest, nest=replace(nest.nest, body=backwards), rewritings=())
    assert validate(kept_dependences(program), changed).violation is not None


EXTREMA = """
func.func @f(%n: index, %B: memref<?xf32>, %D: memref<?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %n {
      %b = affine.load %B[FIRST] : memref<?xf32>
      %d = affine.load %D[%k] : memref<?xf32>
      %c = STEP %b, %d : f32
      affine.store %c, %B[FIRST] : memref<?xf32>
      %e = affine.load %B[OTHER] : memref<?xf32>
      %f = LAST %e, %d : f32
      affine.store %f, %B[OTHER] : memref<?xf32>
    }
  }
  return
}
"""


def vectors(first: str, other: str, step: str, last: str, *, fast: bool = False) -> Verdict:
    """What validation says of four iterations of `i` at once."""
    text = EXTREMA.replace("FIRST", first).replace("OTHER", other)
    scop = schedule_of(text.replace("STEP", step).replace("LAST", last)).program
    schedule = Schedule.original(scop, reassociate=fast)
    nest = generated(schedule, {})
    assert isinstance(nest.nest, For)
    loop = replace(nest.nest, loop=replace(nest.nest.loop, vector=4))
    changed = replace(nest, nest=loop, vectors=(loop,), rewritings=())
    return validate(kept_dependences(schedule), changed)


@pytest.mark.parametrize(
    ("first", "other", "step", "last", "fast", "expected"),
    [
        ("%i", "-%i + symbol(%n)", "arith.maximumf", "arith.maximumf", False, True),
        ("%i", "%i + 1", "arith.minimumf", "arith.minimumf", False, True),
        # Steps that keep their order, or do not commute.
        ("%i", "-%i + symbol(%n)", "arith.addf", "arith.addf", False, False),
        ("%i", "-%i + symbol(%n)", "arith.addf", "arith.addf", True, True),
        ("%i", "-%i + symbol(%n)", "arith.maximumf", "arith.minimumf", True, False),
        ("%i", "-%i + symbol(%n)", "arith.maximumf", "arith.divf", True, False),
        # Two lanes of one statement accumulate in one element.
        ("%i", "0", "arith.maximumf", "arith.maximumf", True, False),
        ("%i floordiv 2", "-%i + symbol(%n)", "arith.maximumf", "arith.maximumf", True, False),
        ("%i + %k", "-%i + symbol(%n)", "arith.maximumf", "arith.maximumf", True, True),
        ("%i + %k", "0", "arith.maximumf", "arith.maximumf", True, False),
    ],
)
def test_steps_of_two_statements_in_vectors(
    first: str, other: str, step: str, last: str, fast: bool, expected: bool
) -> None:
    verdict = vectors(first, other, step, last, fast=fast)
    assert verdict.is_proved == expected, str(verdict)
    if verdict.violation is not None:
        assert verdict.violation.property is Property.PARALLELISM
