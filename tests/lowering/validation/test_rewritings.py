"""Every step that rewrites loop IR: what it computes before and after, and whether faults show.

Floats are no integers, and additions are fused as in compiled code: rounding must be the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from support.choice import SeededChooser
from support.differential import function_of
from support.interpreter import UnsupportedError
from support.loop_ir_runs import Case, is_same
from support.pairs import VECTOR_STEPS
from support.random_programs import KIND_SEEDS, seeded_program, seeded_sizes
from support.random_schedules import random_schedule
from support.sweep_programs import Sweep
from support.targets import NARROW, WIDE
from support.validation import verdict
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation
from xdsl.ir.affine import AffineMap

import loopwright
from loopwright.dialects import affine
from loopwright.dialects.errors import SourceError
from loopwright.lowering import generate
from loopwright.lowering.loops import narrow_arithmetic
from loopwright.lowering.memory import (
    diagonal_vectors,
    elementwise_rows,
    shifted_vectors,
    software_prefetching,
)
from loopwright.lowering.validation.registers.rewriting import Rewriting
from loopwright.lowering.validation.validate import TRUSTED
from loopwright.passes.machine.target import Target

STENCIL = """
func.func @f(%A: memref<70xf32>, %B: memref<70xf32>) {
  affine.for %i = 1 to 69 {
    %0 = affine.load %A[%i - 1] : memref<70xf32>
    %1 = affine.load %A[%i] : memref<70xf32>
    %2 = affine.load %A[%i + 1] : memref<70xf32>
    %3 = arith.mulf %1, %0 : f32
    %4 = arith.addf %3, %2 : f32
    affine.store %4, %B[%i] : memref<70xf32>
  }
  return
}
"""

ROWS = """
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  affine.for %i = 1 to 63 {
    affine.for %j = 0 to 64 {
      %0 = affine.load %A[%i - 1, %j] : memref<64x64xf32>
      %1 = affine.load %A[%i, %j] : memref<64x64xf32>
      %2 = affine.load %A[%i + 1, %j] : memref<64x64xf32>
      %3 = arith.addf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      affine.store %4, %B[%i, %j] : memref<64x64xf32>
    }
  }
  return
}
"""

UNREAD = """
func.func @f(%A: memref<16xf32>, %B: memref<16xf32>) {
  %t = memref.alloca() : memref<16xf32>
  affine.for %i = 0 to 16 {
    %0 = affine.load %A[%i] : memref<16xf32>
    %1 = arith.mulf %0, %0 : f32
    affine.store %1, %t[%i] : memref<16xf32>
    %2 = affine.load %t[%i] : memref<16xf32>
    affine.store %2, %B[%i] : memref<16xf32>
  }
  return
}
"""

AVERAGE = """
func.func @f(%A: memref<40xi8>, %B: memref<40xi8>) {
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 40 {
    %0 = affine.load %A[%i] : memref<40xi8>
    %1 = affine.load %B[%i] : memref<40xi8>
    %2 = arith.extsi %0 : i8 to i32
    %3 = arith.extsi %1 : i8 to i32
    %4 = arith.addi %2, %3 : i32
    %5 = arith.shrsi %4, %one : i32
    %6 = arith.trunci %5 : i32 to i8
    affine.store %6, %B[%i] : memref<40xi8>
  }
  return
}
"""

SHORT_ROWS = """
func.func @f(%A: memref<40x3xf32>, %B: memref<40x3xf32>, %C: memref<3xf32>) {
  affine.for %i = 0 to 40 {
    affine.for %c = 0 to 3 {
      %0 = affine.load %A[%i, %c] : memref<40x3xf32>
      %1 = affine.load %C[%c] : memref<3xf32>
      %2 = affine.load %B[%i, %c] : memref<40x3xf32>
      %3 = arith.mulf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      affine.store %4, %B[%i, %c] : memref<40x3xf32>
    }
  }
  return
}
"""

SWEEP = Sweep("f64", tuple(("A", rows, k) for rows in (-1, 0, 1) for k in (-1, 0, 1))).text


@dataclass(frozen=True)
class Step:
    """A program in which a step of code generation has something to do."""

    name: str
    text: str
    schedule: str
    sizes: tuple[int, ...] = ()
    target: Target = WIDE

    def case(self) -> Case:
        """Loop IR of the program, and arguments of which floats are no small integers."""
        function = loopwright.load(self.text)["f"]
        source = np.random.default_rng(1)
        arguments: list[object] = [*self.sizes]
        for array in function.scop.arrays:
            if array.argument is not None:
                shape = [n if isinstance(n, int) else self.sizes[-1] for n in array.shape]
                values = source.uniform(-128, 127, shape)
                arguments.append(values.astype(KINDS[str(array.element_type)]))
        sizes = function.checked_sizes(arguments)
        return Case(function.schedule(self.schedule, self.target), sizes, [arguments])


KINDS = {"f32": np.float32, "f64": np.float64, "i8": np.int8}

SHUFFLES, NARROWER, ROWS_IN_ORDER = TRUSTED
HINTS = "prefetching and unread arrays"
SMALL_CACHES = replace(NARROW, caches={1: 1 << 10, 2: 4 << 10, 3: 8 << 10})
STEPS = {
    "shifted vectors": Step(SHUFFLES, STENCIL, "vectorize{loops=i width=8}"),
    "diagonal vectors": Step(
        SHUFFLES,
        SWEEP,
        "skew{loops=i,j factors=2},strip-mine{loops=i size=4},interchange{loops=j,i},"
        "vectorize{loops=i width=4},unroll{loops=i}",
        (1, 20, 40),
        NARROW,
    ),
    "prefetching": Step(HINTS, ROWS, "vectorize{loops=j width=8}", (), SMALL_CACHES),
    "unread arrays": Step(HINTS, UNREAD, "vectorize{loops=i width=8}"),
    "narrower arithmetic": Step(NARROWER, AVERAGE, "vectorize{loops=i width=16}"),
    "rows": Step(ROWS_IN_ORDER, SHORT_ROWS, "unroll{loops=c},vectorize{loops=i width=8}"),
}


def in_wrong_lanes(make: Any) -> Callable[[Any, Any, Any], Any]:
    return lambda low, high, lanes: make(low, high, lanes[::-1])


def another_border(border: Any) -> Callable[[Any, Any, Any, int], Any]:
    return lambda self, variable, first, rows: border(self, variable, first, -rows)


def moved_load(_: object) -> Any:
    def fault(operation: Operation, *_: object, **__: object) -> None:
        attribute = operation.properties["map"]
        assert isinstance(attribute, AffineMapAttr)
        map_ = attribute.data
        results = (*map_.results[:-1], map_.results[-1] - 1)
        moved = AffineMap(map_.num_dims, map_.num_symbols, results)
        operation.properties["map"] = AffineMapAttr(moved)

    return fault


def lost_store(_: object) -> Any:
    def fault(function: Operation) -> None:
        *_, store = (op for op in function.walk() if isinstance(op, affine.VectorStoreOp))
        store.detach()
        store.erase()

    return fault


def another_constant(make: Any) -> Callable[[int, Any], Any]:
    return lambda value, kind: make(value + 1, kind)


def one_row_twice(make: Any) -> Any:
    def fault(number: int, *place: object) -> Any:
        return make(min(number, 1), *place)

    return fault


# What is replaced, and by what instead of it.
FAULTS: dict[str, tuple[object, str, Callable[[Any], Any]]] = {
    "shifted vectors": (shifted_vectors, "_shuffle_op", in_wrong_lanes),
    "diagonal vectors": (
        vars(diagonal_vectors)["_CarriedDiagonal"],
        "border",
        another_border,
    ),
    "prefetching": (software_prefetching, "insert_prefetch", moved_load),
    "unread arrays": (generate, "remove_unread_arrays", lost_store),
    "narrower arithmetic": (narrow_arithmetic, "_constant", another_constant),
    "rows": (elementwise_rows, "_offsets", one_row_twice),
}


def changed(case: Case) -> list[Rewriting]:
    return [each for each in case.rewritings() if not each.is_identity]


def differences(case: Case) -> set[str]:
    """The steps of which results are others behind them than before."""
    return {
        each.name
        for each in changed(case)
        if not is_same(case.outcome(each.before), case.outcome(each.after))
    }


@pytest.mark.parametrize("name", STEPS)
def test_steps_compute_the_same(name: str) -> None:
    step = STEPS[name]
    case = step.case()
    assert not differences(case)
    found = verdict(case.schedule, case.sizes)
    assert found.is_proved
    assert (step.name in found.trusted) == (step.name in TRUSTED)
    if step.name in TRUSTED:
        assert step.name in str(found)
    mine = [each for each in case.rewritings() if each.name == step.name]
    assert any(str(each.before) != str(each.after) for each in mine), "it has something to do"


@pytest.mark.parametrize("name", STEPS)
def test_faults_of_steps_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, fault = FAULTS[name]
    monkeypatch.setattr(owner, attribute, fault(getattr(owner, attribute)))
    step = STEPS[name]
    case = step.case()
    assert step.name in differences(case)
    assert step.name in TRUSTED or not verdict(case.schedule, case.sizes).is_proved


def random_case(seed: int) -> Case:
    program = seeded_program(KIND_SEEDS + seed, calls=True)
    function = function_of(program)
    source = random.Random(seed)
    chooser = SeededChooser(source)
    original = function.schedule("", source.choice((WIDE, NARROW)))
    schedule = random_schedule(chooser, original, 4, VECTOR_STEPS)
    arguments = program.make_arguments(seeded_sizes(program, source), rounded=True)
    return Case(schedule, function.checked_sizes(arguments), [arguments])


def check_random(seed: int) -> None:
    try:
        case = random_case(seed)
        outcomes = [(each, case.outcome(each.before)) for each in changed(case)]
        for each, before in outcomes:
            if None not in before:
                assert is_same(before, case.outcome(each.after)), (case.schedule, each.name)
    except (UnsupportedError, SourceError):
        pytest.skip("isl gives up, or the interpreter does not know it")


@pytest.mark.parametrize("seed", range(12))
def test_random_steps_compute_the_same(seed: int) -> None:
    check_random(seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(12, 2000))
def test_step_campaign(seed: int) -> None:
    check_random(seed)
