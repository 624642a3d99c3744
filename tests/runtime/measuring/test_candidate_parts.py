"""Candidates in parts compute what the program does; what they have in common is made once."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from loopwright import load
from loopwright.costmodel.generator import random_program
from loopwright.costmodel.sampler import sample_schedules
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.calling.inputs import Settings, make_arguments
from loopwright.runtime.measuring.candidate_code import LoadedCandidate, ObjectCode
from loopwright.runtime.measuring.candidate_parts import PartKeys, parts
from loopwright.runtime.program import Function
from loopwright.runtime.tuning.schedule_compiler import Compiler
from loopwright.runtime.tuning.trial_messages import Program

MEMORY = 16 << 30

TWO = """
func.func @two(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : memref<?x?xf64>
      %s = arith.addf %a, %a : f64
      affine.store %s, %B[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %k = 0 to %n {
    affine.for %l = 0 to %n {
      %b = affine.load %B[%l, %k] : memref<?x?xf64>
      %y = affine.load %x[%k] : memref<?xf64>
      %t = arith.mulf %b, %y : f64
      affine.store %t, %A[%k, %l] : memref<?x?xf64>
    }
  }
  return
}
"""

SHARED = """
func.func @shared(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  %T = memref.alloc(%n) : memref<?xf64>
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    affine.store %a, %T[%i] : memref<?xf64>
  }
  affine.for %j = 0 to %n {
    %b = affine.load %B[%j] : memref<?xf64>
    affine.store %b, %A[%j] : memref<?xf64>
  }
  affine.for %k = 0 to %n {
    %t = affine.load %T[%k] : memref<?xf64>
    affine.store %t, %B[%k] : memref<?xf64>
  }
  memref.dealloc %T : memref<?xf64>
  return
}
"""


def function_of(text: str) -> Function:
    (function,) = load(text).values()
    return function


def compiler_of(text: str, sizes: dict[str, int], *, fast_math: bool = False) -> Compiler:
    return Compiler(Program(text, function_of(text).name, sizes, 1, fast_math, MEMORY))


def code_of(compiler: Compiler, schedule: str) -> ObjectCode:
    compiled = compiler.compile(schedule)
    assert compiled.code is not None, compiled.message
    return compiled.code


def results(function: Function, code: ObjectCode, given: Sequence[object]) -> list[NDArray[Any]]:
    values = [value.copy() if isinstance(value, np.ndarray) else value for value in given]
    loaded = LoadedCandidate(code)
    call = function.signature.foreign_function(loaded.address)
    call(*(value.ctypes.data if isinstance(value, np.ndarray) else value for value in values))
    assert not loaded.has_failed_to_allocate
    return [value for value in values if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("seed", range(14))
def test_parts_compute_what_the_program_does(seed: int) -> None:
    program = random_program(seed + 700)
    function = function_of(program.text)
    sizes = {name: min(size, 19 + seed % 3) for name, size in program.sizes.items()}
    texts = {name: str(size) for name, size in sizes.items()}
    arguments = make_arguments(function.scop, function.signature, Settings(texts, {}, seed))
    names = dict(function.checked_sizes(arguments))
    compiler = compiler_of(program.text, names)
    expected = results(function, code_of(compiler, ""), arguments)
    original = Schedule.original(function.scop)
    for sample in sample_schedules(Random(seed), original, 5):
        compiled = compiler.compile(str(sample.schedule))
        if compiled.code is None:
            assert "too large" in compiled.message
            continue
        for found, wanted in zip(
            results(function, compiled.code, arguments), expected, strict=True
        ):
            np.testing.assert_array_equal(found, wanted, str(sample.schedule))


def test_what_does_not_change_is_compiled_once() -> None:
    compiler = compiler_of(TWO, {"n": 16, **{f"{a}_dim{d}": 16 for a in "AB" for d in (0, 1)}})
    first, second = (
        code_of(compiler, f"interchange{{loops=l,k}},tile{{loops=i,j sizes={size},4}}")
        for size in (4, 8)
    )
    assert len(first.parts) == len(second.parts) == 2
    assert first.parts[1] is second.parts[1]
    assert first.parts[0] != second.parts[0]


def test_nests_that_share_a_local_array_stay_together() -> None:
    original = Schedule.original(function_of(SHARED).scop)
    assert parts(original, {"n": 8, "A_dim0": 8, "B_dim0": 8}) == [original]


def test_nests_stay_together_where_stores_may_go_past_the_caches() -> None:
    original = Schedule.original(function_of(TWO).scop)
    names = ["n", "A_dim0", "A_dim1", "B_dim0", "B_dim1", "x_dim0"]
    assert len(parts(original, dict.fromkeys(names, 64))) == 2
    assert len(parts(original, dict.fromkeys(names, 20_000))) == 1


def test_equal_parts_have_equal_keys_and_others_have_not() -> None:
    original = Schedule.original(function_of(TWO).scop)
    sizes = dict.fromkeys(["n", "A_dim0", "A_dim1", "B_dim0", "B_dim1", "x_dim0"], 16)
    steps = (
        "",
        "vectorize{loops=j width=4}",
        "vectorize{loops=j width=8}",
        "unroll{loops=j factor=2}",
        "tile{loops=i,j sizes=4,4}",
        "tile{loops=i,j sizes=4,8}",
        "interchange{loops=j,i}",
        "parallel{loops=i}",
    )
    keys = PartKeys()
    found = [
        [keys.key(part) for part in parts(original.apply_all(parse_pipeline(text)), sizes)]
        for text in steps
    ]
    assert len({first for first, _ in found}) == len(steps)
    assert len({second for _, second in found}) == 1
