"""Register promotion that is wrong is not called proved.

Faults are put into loop IR behind the passes, or the passes are told that accesses never overlap.
Whether a fault changes what a program computes is found out by interpreting it.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from support.choice import SeededChooser
from support.differential import function_of
from support.loop_ir_runs import Case, is_same
from support.random_memory import INTEGERS
from support.random_programs import generate, seeded_sizes
from support.random_schedules import random_schedule
from support.register_mutations import mutants
from support.scops import schedule_of

from loopwright.dialects.memref import is_memref
from loopwright.lowering.loops.alias_analysis import Numbering
from loopwright.lowering.validation.registers.rewriting import Rewriting
from loopwright.lowering.validation.registers.simulation import check_rewriting
from loopwright.lowering.validation.verdict import NotKnownError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text

# A sum in an element; an element that the loop around writes; a result before and behind the sum.
SUMS = """
func.func @f(%n: index, %C: memref<?xi32>, %A: memref<?x?xi32>, %B: memref<?xi32>,
             %D: memref<?xi32>) {
  %two = arith.constant 2 : i32
  affine.for %i = 0 to %n {
    affine.store %two, %C[%i] : memref<?xi32>
    affine.for %k = 0 to %n {
      %c = affine.load %C[%i] : memref<?xi32>
      %a = affine.load %A[%i, %k] : memref<?x?xi32>
      %b = affine.load %B[%k] : memref<?xi32>
      %p = arith.muli %a, %b : i32
      %s = arith.addi %c, %p : i32
      affine.store %s, %C[%i] : memref<?xi32>
    }
    %c = affine.load %C[%i] : memref<?xi32>
    %d = arith.muli %c, %two : i32
    affine.store %d, %C[%i] : memref<?xi32>
    affine.store %d, %D[%i] : memref<?xi32>
  }
  return
}
"""

# The value of the iteration before, while another row is written.
RECURRENCE = """
func.func @f(%n: index, %A: memref<?x?xi32>, %x: memref<?xi32>) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %n {
      %a = affine.load %A[%i, %j - 1] : memref<?x?xi32>
      %b = affine.load %A[%i - 1, %j] : memref<?x?xi32>
      %x0 = affine.load %x[%j] : memref<?xi32>
      %c = arith.addi %a, %b : i32
      %d = arith.addi %c, %x0 : i32
      affine.store %d, %A[%i, %j] : memref<?x?xi32>
    }
  }
  return
}
"""

# Nothing may be accessed where the inner loop does not run: there is no such element then.
LAST = """
func.func @f(%n: index, %m: index, %x: memref<?xi32>, %y: memref<?xi32>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %m {
      %a = affine.load %x[%m - 1] : memref<?xi32>
      %b = affine.load %y[%k] : memref<?xi32>
      %c = arith.addi %a, %b : i32
      affine.store %c, %x[%m - 1] : memref<?xi32>
    }
    %d = affine.load %y[%i] : memref<?xi32>
    affine.store %d, %x[%i] : memref<?xi32>
    affine.store %d, %y[%i] : memref<?xi32>
  }
  return
}
"""

# Elements that are loaded before and after they are stored to, once in a loop.
OVERLAP = """
func.func @f(%n: index, %t: i32, %w: memref<?xi32>, %x: memref<?xi32>, %z: memref<?xi32>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %n {
      %a = affine.load %x[%k] : memref<?xi32>
      %w0 = affine.load %w[%k] : memref<?xi32>
      %w1 = arith.addi %a, %w0 : i32
      affine.store %w1, %w[%k] : memref<?xi32>
      affine.store %t, %x[%i] : memref<?xi32>
      %b = affine.load %x[%k] : memref<?xi32>
      %c = affine.load %x[%i] : memref<?xi32>
      %d = arith.addi %b, %c : i32
      affine.store %d, %z[%k] : memref<?xi32>
    }
  }
  return
}
"""

# Elements at subscripts from memory, compared with the extents ahead of the loops or in them.
GATHERS = """
func.func @f(%n: index, %C: memref<?xi32>, %X: memref<?xi32>, %A: memref<?x?xi32>,
             %B: memref<?xi32>) {
  %three = arith.constant 3 : i32
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %n {
      %c = affine.load %C[%i] : memref<?xi32>
      %x = affine.load %X[%k] : memref<?xi32>
      %y = arith.andi %x, %three : i32
      %q = arith.index_cast %y : i32 to index
      %a = memref.load %A[%q, %i] : memref<?x?xi32>
      %z = arith.andi %c, %three : i32
      %p = arith.index_cast %z : i32 to index
      %b = memref.load %B[%p] : memref<?xi32>
      %t = arith.muli %a, %b : i32
      %s = arith.addi %c, %t : i32
      affine.store %s, %C[%i] : memref<?xi32>
    }
  }
  return
}
"""

# What a row has stored, under a mask at its end, is added up.
UPDATED = """
func.func @f(%n: index, %A: memref<?x?xi32>, %x: memref<?xi32>, %C: memref<?xi32>) {
  affine.for %j = 0 to %n {
    affine.for %i = 0 to %n {
      %a = affine.load %A[%i, %j] : memref<?x?xi32>
      %b = affine.load %x[%i] : memref<?xi32>
      %s = arith.subi %a, %b : i32
      affine.store %s, %A[%i, %j] : memref<?x?xi32>
      %c = affine.load %C[%j] : memref<?xi32>
      %t = affine.load %A[%i, %j] : memref<?x?xi32>
      %p = arith.muli %t, %b : i32
      %d = arith.addi %c, %p : i32
      affine.store %d, %C[%j] : memref<?xi32>
    }
  }
  return
}
"""

SQUARE, LINE = {"n": 5}, {"n": 3, "m": 0}

# A program, a schedule, sizes to run it with, and whether code is for these sizes alone.
CASES = {
    "sum": (SUMS, "", [SQUARE], True),
    "tiled": (SUMS, "tile{loops=k sizes=2}", [SQUARE], True),
    "vectors": (
        SUMS,
        "distribute{loops=i},strip-mine{loops=S1.i size=4},interchange{loops=S1.i,k},"
        "vectorize{loops=S1.i width=4}",
        [{"n": 6}],
        True,
    ),
    "recurrence": (RECURRENCE, "", [SQUARE], True),
    "unrolled recurrence": (RECURRENCE, "unroll{loops=j factor=2}", [{"n": 6}], True),
    "any sizes": (SUMS, "", [{"n": 0}, {"n": 1}, SQUARE], False),
    "overlap": (OVERLAP, "", [{"n": 5, "t": 2}], True),
    "gathers": (GATHERS, "", [SQUARE], True),
    "gathers in vectors": (
        GATHERS,
        "interchange{loops=i,k},vectorize{loops=i width=4}",
        [{"n": 8}],
        True,
    ),
    "sums of what is stored under a mask": (
        UPDATED,
        "strip-mine{loops=j size=4},interchange{loops=i,j},vectorize{loops=j width=4}",
        [{"n": 6}],
        True,
    ),
    "empty loops": (LAST, "", [LINE, {"n": 3, "m": 3}, {"n": 3, "m": 2}], False),
}


def is_proved(rewriting: Rewriting) -> bool:
    try:
        check_rewriting(rewriting)
    except NotKnownError:
        return False
    return True


def named_case(name: str) -> Case:
    text, steps, runs, is_special = CASES[name]
    schedule = apply_text(steps, schedule_of(text)) if steps else schedule_of(text)
    function = schedule.scop.func
    source = np.random.default_rng(1)
    calls: list[list[object]] = []
    for sizes in runs:
        extent = max(sizes.values())
        ranks = [a.type.get_num_dims() for a in function.args if is_memref(a.type)]
        arrays = [source.integers(1, 99, (extent,) * rank, np.int32) for rank in ranks]
        calls.append([*sizes.values(), *arrays])
    special = runs[0] | _extents(schedule, runs[0]["n"]) if is_special else {}
    return Case(schedule, special, calls)


def _extents(schedule: Schedule, n: int) -> dict[str, int]:
    return {each: n for a in schedule.scop.arrays for each in a.shape if isinstance(each, str)}


def random_case(seed: int) -> Case:
    program = generate(SeededChooser(random.Random(seed)), calls=True, element_types=INTEGERS)
    function = function_of(program)
    source = random.Random(seed)
    schedule = random_schedule(SeededChooser(source), function.schedule(), 5)
    sizes = seeded_sizes(program, source, 12)
    arguments = program.make_arguments(sizes)
    return Case(schedule, function.checked_sizes(arguments), [arguments])


def check_faults(case: Case, most: int) -> Counter[tuple[str, bool, bool]]:
    """Puts one fault after the other into loop IR; those that count are not proved."""
    found: Counter[tuple[str, bool, bool]] = Counter()
    for position, rewriting in enumerate(case.rewritings()):
        expected = case.outcome(rewriting.before)
        assert None not in expected
        assert is_same(expected, case.outcome(rewriting.after))
        assert is_proved(rewriting), f"{case.schedule}, {position}"
        for number, (what, mutant) in enumerate(mutants(rewriting, most)):
            is_right = is_same(expected, case.outcome(mutant.after))
            proved = is_proved(mutant)
            assert is_right or not proved, f"{case.schedule}: fault {number}, {what}"
            found[what, is_right, proved] += 1
    return found


@pytest.mark.parametrize("name", list(CASES))
def test_no_fault_is_proved(name: str) -> None:
    found = check_faults(named_case(name), 40)
    assert sum(count for (_, is_right, _), count in found.items() if not is_right) > 10


def test_faults_of_every_kind_are_found() -> None:
    """Those of the passes: accesses with wrong subscripts, left out, too early, and unguarded."""
    found = check_faults(named_case("empty loops"), 100)
    found += check_faults(named_case("overlap"), 100)
    kinds = {what for what, is_right, _ in found if not is_right}
    assert {
        "a guard is dropped",
        "a load hoisted",
        "a load too early",
        "a store hoisted",
        "a store is left out",
        "a store sunk",
        "a store too early",
        "a store too late",
        "another subscript of a load",
        "another subscript of a store",
    } <= kinds


@pytest.mark.parametrize("seed", range(1, 5))
def test_no_fault_in_random_code_is_proved(seed: int) -> None:
    check_faults(random_case(seed), 20)


def always(*_: object) -> bool:
    return True


def check_disjoint(case: Case, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The passes are told that accesses never overlap; returns whether that matters."""
    expected = case.outcome(case.rewritings()[0].before)
    monkeypatch.setattr(Numbering, "is_disjoint", always)
    changed = case.rewritings()
    results = [case.outcome(rewriting.after) for rewriting in changed]
    is_wrong = False
    for rewriting, result in zip(changed, results, strict=True):
        is_right = is_same(expected, result)
        assert (
            is_right or not is_proved(rewriting) or is_same(case.outcome(rewriting.before), result)
        )
        is_wrong |= not is_right
    return is_wrong


def test_passes_that_take_all_accesses_for_disjoint(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_disjoint(named_case("overlap"), monkeypatch)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(5, 300))
def test_fault_campaign(seed: int) -> None:
    check_faults(random_case(seed), 200)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(300))
def test_disjoint_campaign(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_disjoint(random_case(seed), monkeypatch)
