"""Scheduled programs as C: vector loops are loops for the compiler's own vectors."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from support.c_code import build, call_c, compilers
from support.choice import SeededChooser
from support.differential import assert_same, describe, function_of, interpreted
from support.random_programs import RandomProgram, seeded_program
from support.random_schedules import random_schedule
from support.reference_runs import function_of as kernel_function
from support.standard_schedules import standard_schedule, vectorize
from xdsl.dialects.builtin import FunctionType, StringAttr

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.c import emit_c
from loopwright.lowering.generate import generate
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule

FLAGS = ("-O3", "-ffp-contract=off", "-Wno-tautological-compare")
PROGRAMS = 25

TEXT = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 1 to %n {
    %0 = affine.load %A[%i - 1] : memref<?xf64>
    affine.store %0, %A[%i] : memref<?xf64>
    affine.for %j = 0 to %n {
      %1 = affine.load %B[%i, %j] : memref<?x?xf64>
      %2 = arith.mulf %1, %0 : f64
      affine.store %2, %B[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""


def c_code(schedule: str, text: str = TEXT, n: int = 40) -> str:
    program = loopwright.load(text)["f"]
    sizes = infer_extents(program.scop, {"n": n})
    return emit_c(generate(program.schedule(schedule), sizes, vectors=False))


def results(returned: Any) -> tuple[Any, ...]:
    if returned is None:
        return ()
    return cast(tuple[Any, ...], returned) if isinstance(returned, tuple) else (returned,)


def pragmas(code: str) -> list[str]:
    return [line for line in code.splitlines() if line.startswith("#pragma omp")]


def test_vector_loops_have_a_pragma() -> None:
    assert pragmas(c_code("vectorize{loops=j width=8}")) == ["#pragma omp simd simdlen(8)"]
    assert pragmas(c_code("vectorize{loops=j width=3}")) == ["#pragma omp simd"]
    assert pragmas(c_code("tile{loops=j sizes=8},vectorize{loops=j width=4}")) == [
        "#pragma omp simd simdlen(4)"
    ]
    assert pragmas(c_code("parallel{loops=j},vectorize{loops=j width=4}")) == [
        "#pragma omp parallel for simd simdlen(4)"
    ]
    assert not pragmas(c_code(""))


def test_what_only_lockstep_keeps_in_order_has_none() -> None:
    text = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %i = 1 to %n {
    %0 = affine.load %B[%i] : memref<?xf64>
    affine.store %0, %A[%i] : memref<?xf64>
    %1 = affine.load %A[%i - 1] : memref<?xf64>
    affine.store %1, %B[%i] : memref<?xf64>
  }
  return
}
"""
    assert not pragmas(c_code("vectorize{loops=i width=4}", text))


def test_loops_around_others_have_none() -> None:
    code = c_code("distribute{loops=i},interchange{loops=j,S1.i},vectorize{loops=j width=4}")
    assert not pragmas(code)
    assert code.count("for (") == 3


@pytest.mark.parametrize("compiler", compilers())
def test_c_does_what_the_program_says(tmp_path: Path, compiler: str) -> None:
    """Random programs and schedules, with vector loops wherever they are legal."""
    texts: list[str] = []
    kinds: list[FunctionType] = []
    cases: list[tuple[RandomProgram, dict[str, int], Schedule]] = []
    for seed in range(PROGRAMS):
        program = seeded_program(seed)
        function = function_of(program)
        schedule = random_schedule(SeededChooser(random.Random(seed)), function.schedule(), 6)
        schedule = vectorize(schedule)
        sizes = dict.fromkeys(program.sizes, 7)
        known = function.signature.sizes_of(program.make_arguments(sizes)).of(function.scop)
        loops = generate(schedule, known, vectors=False)
        loops.properties["sym_name"] = StringAttr(f"f{seed}")
        texts.append(emit_c(loops))
        kinds.append(loops.function_type)
        cases.append((program, sizes, schedule))
    assert sum("#pragma omp simd" in text for text in texts) > PROGRAMS / 4
    # clang has no OpenMP runtime everywhere.
    openmp = "-fopenmp" if compiler == "gcc" else "-fopenmp-simd"
    library = build(compiler, texts, tmp_path, openmp, *FLAGS)
    for seed, (program, sizes, schedule) in enumerate(cases):
        expected, exact = interpreted(program, sizes)
        arguments = program.make_arguments(sizes)
        returned = call_c(library, f"f{seed}", kinds[seed], arguments)
        found = [*arguments, *results(returned)]
        if exact:
            assert_same(expected, found, texts[seed] + describe(program, sizes, schedule))


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("name", ["gemm", "jacobi-2d", "correlation", "lu", "nussinov"])
def test_shipped_kernels(tmp_path: Path, compiler: str, name: str) -> None:
    entry = catalogue()[f"polybench/{name}"]
    function = kernel_function(entry.name)
    schedule = standard_schedule("all", function.schedule())
    arguments, expected = entry.arguments("MINI"), entry.arguments("MINI")
    known = function.signature.sizes_of(arguments).of(function.scop)
    loops = generate(schedule, known, vectors=False)
    openmp = "-fopenmp" if compiler == "gcc" else "-fopenmp-simd"
    library = build(compiler, [emit_c(loops)], tmp_path, openmp, *FLAGS)
    call_c(library, entry.function, loops.function_type, arguments)
    function.compile()(*expected)
    for one, other in zip(expected, arguments, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
