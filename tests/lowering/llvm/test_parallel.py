"""Parallel loops: every iteration runs once, whatever the threads and trip counts."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
import pytest
from support.machine_code import MachineCode

from loopwright.runtime.jit import openmp

THREADS = (0, 1, 2, 3, 5)
SCHEDULES = ("static", "dynamic")


def counted(bounds: str, schedule: str, rank: int) -> str:
    """A function that adds 1 + the thread-independent sum of indices to an element per point."""
    indices = ", ".join(f"%i{number}" for number in range(rank))
    shape = "x".join("?" * rank)
    return f"""
    func.func @f(%a: index, %b: index, %r: memref<{shape}xi64>) {{
      %one = arith.constant 1 : i64
      affine.parallel ({indices}) = {bounds} {{
        %x = affine.load %r[{indices}] : memref<{shape}xi64>
        %y = arith.addi %x, %one : i64
        affine.store %y, %r[{indices}] : memref<{shape}xi64>
      }} {{schedule = "{schedule}"}}
      return
    }}"""


def run(code: MachineCode, a: int, b: int, rank: int) -> np.ndarray[Any, Any]:
    counts = np.zeros((70,) * rank if rank == 1 else (13,) * rank, np.int64)
    code("f", a, b, counts)
    return counts


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("threads", THREADS)
def test_one_dimension(schedule: str, threads: int) -> None:
    code = MachineCode(counted("(%a) to (%b)", schedule, 1), threads=threads)
    for a, b in [*((0, n) for n in (0, 1, 2, 3, 7, 64, 70)), (5, 5), (9, 2), (11, 42)]:
        expected = np.zeros(70, np.int64)
        expected[a:b] = 1
        np.testing.assert_array_equal(run(code, a, b, 1), expected)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("threads", (1, 2, 3))
def test_steps_and_several_bounds(schedule: str, threads: int) -> None:
    bounds = "(max(%a, %b - 9)) to (min(%a + 20, %b)) step (4)"
    code = MachineCode(counted(bounds, schedule, 1), threads=threads)
    for a, b in [(0, 20), (3, 12), (3, 13), (0, 1), (7, 7), (30, 33)]:
        expected = np.zeros(70, np.int64)
        expected[max(a, b - 9) : min(a + 20, b) : 4] = 1
        np.testing.assert_array_equal(run(code, a, b, 1), expected)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("threads", (1, 2, 3, 5))
def test_two_dimensions_are_one_range(schedule: str, threads: int) -> None:
    code = MachineCode(counted("(0, %a) to (%b, 13) step (1, 3)", schedule, 2), threads=threads)
    for a, b in itertools.product((0, 1, 5, 12, 13), (0, 1, 2, 7, 13)):
        expected = np.zeros((13, 13), np.int64)
        expected[:b, a::3] = 1
        np.testing.assert_array_equal(run(code, a, b, 2), expected)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("threads", (1, 2, 3, 7))
def test_three_dimensions_are_one_range(schedule: str, threads: int) -> None:
    code = MachineCode(
        counted("(%a, 0, 1) to (4, %b, 6) step (2, 1, 2)", schedule, 3), threads=threads
    )
    for a, b in itertools.product((0, 1, 3, 4), (0, 1, 5, 13)):
        expected = np.zeros((13, 13, 13), np.int64)
        expected[a:4:2, :b, 1:6:2] = 1
        np.testing.assert_array_equal(run(code, a, b, 3), expected)


@pytest.mark.parametrize("threads", (2, 3))
def test_threads_are_told_apart_only_when_there_is_work(threads: int) -> None:
    # One iteration alone does not fork: it sees the caller's thread.
    code = MachineCode(counted("(%a) to (%b)", "static", 1), threads=threads)
    assert run(code, 3, 4, 1).sum() == 1


NESTED = """
func.func @f(%n: index, %A: memref<?x?xf64>, %s: f64, %B: memref<?x?xf64>, %k: i32) {
  %three = arith.constant 3.0 : f64
  affine.for %t = 0 to 2 {
    affine.parallel (%i) = (0) to (%n) {
      %f = arith.sitofp %k : i32 to f64
      affine.parallel (%j) = (0) to (symbol(%n)) {
        %x = affine.load %A[%i, %j] : memref<?x?xf64>
        %y = arith.mulf %x, %s : f64
        %z = arith.addf %y, %f : f64
        %w = arith.mulf %z, %three : f64
        %o = affine.load %B[%j, %i] : memref<?x?xf64>
        %p = arith.addf %o, %w : f64
        affine.store %p, %B[%j, %i] : memref<?x?xf64>
      }
    }
  }
  return
}"""


@pytest.mark.parametrize("threads", (1, 2, 3))
def test_nested_parallel_loops_and_captured_values(threads: int) -> None:
    code = MachineCode(NESTED, threads=threads)
    for n in (0, 1, 2, 9):
        generator = np.random.default_rng(n)
        a = generator.integers(-9, 9, (n, n)).astype(np.float64)
        b = generator.integers(-9, 9, (n, n)).astype(np.float64)
        expected = b + 2 * 3 * (a.T * 2.5 + 4)
        code("f", n, a, 2.5, b, 4)
        np.testing.assert_array_equal(b, expected)


def test_only_the_outermost_parallel_loop_forks() -> None:
    assert MachineCode(NESTED, threads=2).llvm_ir.count('call void @"GOMP_parallel"') == 1
    assert "GOMP" not in MachineCode(NESTED, threads=1).llvm_ir


PRIVATE = """
func.func @f(%n: index, %m: index, %r: memref<?xi64>) {
  %zero = arith.constant 0 : i64
  affine.parallel (%i) = (0) to (%n) {
    %sum = memref.alloca() : memref<i64>
    %row = memref.alloc(%m) : memref<?xi64>
    %big = memref.alloc() : memref<4096xi64>
    affine.store %zero, %sum[] : memref<i64>
    affine.for %j = 0 to %m {
      %v = arith.index_cast %j : index to i64
      affine.store %v, %row[%j] : memref<?xi64>
      affine.store %v, %big[%j] : memref<4096xi64>
    }
    affine.for %j = 0 to %m {
      %s = affine.load %sum[] : memref<i64>
      %v = affine.load %row[%j] : memref<?xi64>
      %w = affine.load %big[%j] : memref<4096xi64>
      %t = arith.addi %s, %v : i64
      %u = arith.addi %t, %w : i64
      affine.store %u, %sum[] : memref<i64>
    }
    %s = affine.load %sum[] : memref<i64>
    affine.store %s, %r[%i] : memref<?xi64>
    memref.dealloc %row : memref<?xi64>
  } {schedule = "dynamic"}
  return
}"""


@pytest.mark.parametrize("threads", (1, 2, 4))
def test_memory_allocated_inside_belongs_to_the_thread(threads: int) -> None:
    code = MachineCode(PRIVATE, threads=threads)
    result = np.zeros(500, np.int64)
    code("f", 500, 300, result)
    assert (result == 300 * 299).all()
    assert code.failed_allocations == 0


REDUCTIONS = {
    "addf": ("f64", lambda values: values.sum()),
    "mulf": ("f64", lambda values: values.prod()),
    "maximumf": ("f64", lambda values: values.max(initial=-np.inf)),
    "minimumf": ("f64", lambda values: values.min(initial=np.inf)),
    "addi": ("i32", lambda values: values.sum()),
    "muli": ("i32", lambda values: values.prod()),
    "andi": ("i32", lambda values: np.bitwise_and.reduce(values, axis=None)),
    "ori": ("i32", lambda values: np.bitwise_or.reduce(values, axis=None)),
    "maxs": ("i32", lambda values: values.max(initial=-(1 << 31))),
    "mins": ("i32", lambda values: values.min(initial=(1 << 31) - 1)),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    kind, meaning = REDUCTIONS[name]
    code = MachineCode(
        f"""
        func.func @f(%n: index, %A: memref<?x3x{kind}>) -> {kind} {{
          %r = affine.parallel (%i, %j) = (0, 0) to (%n, 3) reduce ("{name}") -> ({kind}) {{
            %x = affine.load %A[%i, %j] : memref<?x3x{kind}>
            affine.yield %x : {kind}
          }}
          return %r : {kind}
        }}""",
        threads=2,
    )
    generator = np.random.default_rng(1)
    for n in (0, 1, 4):
        values = generator.integers(-5, 9, (n, 3)).astype(np.float64 if kind == "f64" else np.int32)
        assert code("f", n, values) == meaning(values)


def test_two_parallel_loops_in_one_function() -> None:
    code = MachineCode(
        """
    func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
      affine.parallel (%i) = (0) to (%n) {
        %x = affine.load %A[%i] : memref<?xf64>
        %y = arith.addf %x, %x : f64
        affine.store %y, %B[%i] : memref<?xf64>
      }
      affine.parallel (%i) = (0) to (%n) {
        %x = affine.load %B[%i] : memref<?xf64>
        %y = arith.mulf %x, %x : f64
        affine.store %y, %A[%i] : memref<?xf64>
      } {schedule = "dynamic"}
      return
    }""",
        threads=2,
    )
    a, b = np.arange(33.0), np.zeros(33)
    code("f", 33, a, b)
    np.testing.assert_array_equal(a, 4 * np.arange(33.0) ** 2)


def test_without_an_openmp_runtime_one_thread_does_it_all() -> None:
    found = openmp.stubs()
    assert set(found) == set(openmp.imports())
    calls: list[int] = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def body(data: int) -> None:
        calls.append(data)

    fork = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)(
        found["GOMP_parallel"]
    )
    fork(ctypes.cast(body, ctypes.c_void_p), 42, 8, 0)
    assert calls == [42]
    assert ctypes.CFUNCTYPE(ctypes.c_int)(found["omp_get_num_threads"])() == 1
    assert ctypes.CFUNCTYPE(ctypes.c_int)(found["omp_get_thread_num"])() == 0
