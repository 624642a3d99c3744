"""Faults in generated nests are found: none of those that change what runs is called proved.

Whether a fault does is found out by running the nest, instance by instance.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from itertools import chain

import pytest
from support.choice import SeededChooser
from support.differential import function_of
from support.nest_mutations import mutants, several, subscript_mutants
from support.random_programs import seeded_program, seeded_sizes
from support.random_schedules import random_schedule
from support.scops import schedule_of
from support.validation import generated, kept_dependences
from support.value_origins import NestExecution, Outcome, WrongRunError

from loopwright.dialects.errors import SourceError
from loopwright.lowering.validation.generated import Generated
from loopwright.lowering.validation.kept_dependences import KeptDependences
from loopwright.lowering.validation.validate import validate
from loopwright.lowering.validation.verdict import NotKnownError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text

GEMM = """
func.func @gemm(%n: index, %alpha: f64, %C: memref<?x?xf64>, %A: memref<?x?xf64>,
                %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %c = affine.load %C[%i, %j] : memref<?x?xf64>
      %s = arith.mulf %c, %alpha : f64
      affine.store %s, %C[%i, %j] : memref<?x?xf64>
    }
    affine.for %k = 0 to %n {
      affine.for %j = 0 to %n {
        %c = affine.load %C[%i, %j] : memref<?x?xf64>
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %b = affine.load %B[%k, %j] : memref<?x?xf64>
        %x = arith.mulf %a, %alpha : f64
        %p = arith.mulf %x, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""

STENCIL = """
func.func @stencil(%t: index, %n: index, %A: memref<?xf64>) {
  affine.for %s = 0 to %t {
    affine.for %i = 1 to %n {
      %a = affine.load %A[%i - 1] : memref<?xf64>
      %b = affine.load %A[%i + 1] : memref<?xf64>
      %c = arith.addf %a, %b : f64
      affine.store %c, %A[%i] : memref<?xf64>
    }
  }
  return
}
"""

ROWS = """
func.func @rows(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>, %x: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.store %zero, %x[%j] : memref<?xf64>
      affine.for %k = 0 to %n {
        %c = affine.load %x[%j] : memref<?xf64>
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %b = affine.load %B[%k, %j] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %x[%j] : memref<?xf64>
      }
    }
    affine.for %j = 0 to %n {
      %c = affine.load %x[%j] : memref<?xf64>
      affine.store %c, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

LOCAL = """
func.func @local(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  %x = memref.alloca() : memref<f64>
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %b = arith.mulf %a, %a : f64
    affine.store %b, %x[] : memref<f64>
    %c = affine.load %x[] : memref<f64>
    %d = arith.addf %c, %a : f64
    affine.store %d, %B[%i] : memref<?xf64>
  }
  return
}
"""

SUM = """
func.func @sum(%n: index, %A: memref<?x?xi32>, %s: memref<?xi32>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %n {
      %c = affine.load %s[%i] : memref<?xi32>
      %a = affine.load %A[%i, %k] : memref<?x?xi32>
      %d = arith.addi %c, %a : i32
      affine.store %d, %s[%i] : memref<?xi32>
    }
  }
  return
}
"""

# Mutants with two or three faults, besides all with one.
SEVERAL = 10

CASES = {
    "loops": (GEMM, {"n": 3}, ""),
    "tiled": (
        GEMM,
        {"n": 5},
        "distribute{loops=i},tile{loops=S1.i,k,S1.j sizes=2,3,4},parallel{loops=S0.i}",
    ),
    "packed": (
        GEMM,
        {"n": 4},
        "distribute{loops=i},tile{loops=S1.i,k sizes=2,3},pack{loops=kt array=B order=1,0},"
        "pack{loops=k array=A scaled=true},unroll{loops=S1.i}",
    ),
    "written": (
        ROWS,
        {"n": 3},
        "pack{loops=i array=x},tile{loops=i sizes=2},distribute{loops=i}",
    ),
    "wavefront": (STENCIL, {"t": 3, "n": 6}, "skew{loops=s,i factors=2},tile{loops=s,i sizes=2,3}"),
    "split": (GEMM, {"n": 3}, "split{loops=i at=2},vectorize{loops=S0.j width=4}"),
    "expanded": (
        LOCAL,
        {"n": 5},
        "strip-mine{loops=i size=2},expand{loops=i array=x},distribute{loops=i}",
    ),
    "partial results": (SUM, {"n": 5}, "tile{loops=k sizes=2},rfactor{loops=k},parallel{loops=i}"),
}


def outcome(kept: KeptDependences, nest: Generated) -> Outcome | None:
    """What a run of the nest gives; None where it cannot be right."""
    try:
        return NestExecution(kept, nest).run()
    except (WrongRunError, NotKnownError):
        return None


def counted(schedule: Schedule, sizes: Mapping[str, int]) -> Counter[tuple[str, str]]:
    """Mutants of the code for a schedule: whether they are right, and what validation says."""
    kept = kept_dependences(schedule)
    base = schedule.scop.base or schedule.program  # a transformation may edit the program
    expected = outcome(kept, generated(Schedule.original(base), sizes))
    nest = generated(schedule, sizes)
    assert outcome(kept, nest) == expected
    assert str(validate(kept, nest)) == "proved"
    found: Counter[tuple[str, str]] = Counter()
    others = chain(subscript_mutants(nest), several(random.Random(0), nest, SEVERAL))
    for what, mutant in others:
        if validate(kept, mutant).is_proved:
            assert outcome(kept, mutant) == expected, f"{schedule} with {sizes}: {what}"
    for what, mutant in mutants(nest):
        is_right = outcome(kept, mutant) == expected
        verdict = validate(kept, mutant)
        assert is_right or not verdict.is_proved, f"{schedule} with {sizes}: {what}"
        said = "not known" if verdict.reason else "proved" if verdict.is_proved else "violated"
        found["right" if is_right else "wrong", said] += 1
    return found


@pytest.mark.parametrize("case", list(CASES))
def test_no_fault_is_proved(case: str) -> None:
    text, sizes, steps = CASES[case]
    schedule = apply_text(steps, schedule_of(text)) if steps else schedule_of(text)
    found = counted(schedule, sizes)
    assert found["wrong", "violated"] >= 10
    assert found["wrong", "not known"] == 0


@pytest.mark.parametrize(
    "again",
    [
        "pack{loops=unpack_x.x0 array=x_packed}",
        "tile{loops=unpack_x.x0 sizes=2},pack{loops=unpack_x.x0t array=x_packed}",
    ],
)
def test_what_is_copied_out_of_a_packed_copy(again: str) -> None:
    """A packed array that is packed again where it is copied out: still proved, its faults not."""
    schedule = apply_text(f"pack{{loops=i array=x}},{again}", schedule_of(ROWS))
    found = counted(schedule, {"n": 3})
    assert found["wrong", "violated"] >= 50


DEAD = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>, %C: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %C[%i] : memref<?xf64>
    affine.store %a, %A[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    %a = affine.load %C[%i] : memref<?xf64>
    %b = arith.mulf %a, %a : f64
    affine.store %b, %A[%i] : memref<?xf64>
  }
  return
}
"""


def test_arguments_are_accessed_where_the_program_does() -> None:
    """Also those that it does not write, and where what it reads has never been written."""
    schedule = schedule_of(DEAD)
    kept = kept_dependences(schedule)
    found = dict(subscript_mutants(generated(schedule, {})))
    assert {"S0, access 0: subscript 0 +1", "S0, access 1: B for A"} <= found.keys()
    for what, mutant in found.items():
        assert not validate(kept, mutant).is_proved, what


def check_random(seed: int) -> None:
    program = seeded_program(seed, calls=True)
    function = function_of(program)
    source = random.Random(seed)
    try:
        schedule = random_schedule(SeededChooser(source), function.schedule(), 8)
        sizes = function.checked_sizes(program.make_arguments(seeded_sizes(program, source)))
        counted(schedule, sizes)
    except SourceError as error:
        if "too complex" not in error.message and "leaves out" not in error.message:
            raise


# Of 16, lanes of a vector have an inner loop that begins elsewhere in each.
@pytest.mark.parametrize("seed", [*range(5), 16])
def test_no_fault_in_random_code_is_proved(seed: int) -> None:
    check_random(seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(5, 300))
def test_random_campaign(seed: int) -> None:
    check_random(seed)
