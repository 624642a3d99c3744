"""What functions of built libraries compute, and what they refuse."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_libraries import SharedLibrary
from support.reference_runs import agreements, function_of
from support.runtime_programs import ADD_BYTES, DOT, FIXED, GEMM, SAXPY, SCALARS
from support.standard_schedules import standard_schedule

import loopwright
from loopwright.commands.shipped import with_standard_extents
from loopwright.kernels.catalogue import catalogue
from loopwright.kernels.references import REFERENCES, reference
from loopwright.lowering.llvm import Status
from loopwright.runtime.calling.arguments import ArrayArgument
from loopwright.runtime.program import Function

KERNELS = ("gemm", "lu", "trmm", "jacobi-2d", "nussinov", "durbin", "deriche")


def shared(program: str, folder: Path, **options: Any) -> SharedLibrary:
    """All functions of a program as a shared library."""
    return SharedLibrary(loopwright.load(program).build(folder / "library.so", **options))


def flattened(function: Function, values: list[Any], *, fixed: bool) -> list[Any]:
    """The arguments of a call in C: extents follow their arrays; fixed sizes are left out."""
    result: list[Any] = []
    for argument, value in zip(function.signature.arguments, values, strict=True):
        if isinstance(argument, ArrayArgument):
            result.append(value)
            if not fixed:
                extents = zip(argument.shape, value.shape, strict=True)
                result += [extent for static, extent in extents if static is None]
        elif not fixed or not getattr(argument, "is_size", False):
            result.append(value)
    return result


def check_kernel(name: str, schedule: str, fixed: bool, folder: Path) -> None:
    """A kernel of PolyBench as a library against its reference."""
    entry, function = catalogue()[f"polybench/{name}"], function_of(f"polybench/{name}")
    default = schedule == "default"
    scheduled = schedule if default else standard_schedule(schedule, function.schedule())
    mini = entry.parameter_values("MINI")
    sizes = with_standard_extents(entry.name, function, mini) if fixed else {}
    built = function.build(folder / "kernel.so", scheduled, sizes=sizes, threads=2)
    library = SharedLibrary(built)
    values, expected = entry.arguments("MINI"), entry.arguments("MINI")
    assert library(built.functions[0], *flattened(function, values, fixed=fixed)) == Status.OK
    reference(entry)(*expected)
    for agreement in agreements(entry, "MINI", values, entry.output_arrays(expected)):
        assert agreement.agrees, agreement


def test_default_schedule(tmp_path: Path) -> None:
    """It is chosen for fixed sizes; where some are passed, the loops stay as written."""
    function = function_of("polybench/gemm")
    sizes = dict(catalogue()["polybench/gemm"].parameter_values("LARGE"))
    steps = function.default_schedule(sizes, threads=2).transformations
    header = function.build(tmp_path / "fixed.o", sizes=sizes, threads=2).header.read_text()
    assert steps and all(f" *     {step}" in header for step in steps)
    header = function.build(tmp_path / "open.o", sizes={"ni": 1000}).header.read_text()
    assert "Schedule: the loops as written." in header


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str, fixed: bool, tmp_path: Path) -> None:
    check_kernel(name, "all", fixed, tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("schedule", ["as written", "tile", "all", "default"])
@pytest.mark.parametrize("name", [n.removeprefix("polybench/") for n in REFERENCES if "poly" in n])
def test_every_kernel(name: str, schedule: str, fixed: bool, tmp_path: Path) -> None:
    check_kernel(name, schedule, fixed, tmp_path)


def test_some_sizes_fixed(tmp_path: Path) -> None:
    library = shared(GEMM, tmp_path, sizes={"nk": 3, "A_dim1": 3, "C_dim0": 4})
    names = [name for _, name in library.parameters("gemm")]
    assert names == ["ni", "nj", "C", "C_dim1", "A", "A_dim0", "B", "B_dim0", "B_dim1"]
    a, b, c = np.ones((4, 3)), np.full((3, 5), 2.0), np.zeros((4, 5))
    assert library("gemm", 4, 5, c, 5, a, 4, b, 3, 5) == Status.OK
    np.testing.assert_array_equal(c, np.full((4, 5), 6.0))
    assert library("gemm", 5, 5, c, 5, a, 4, b, 3, 5) == Status.OUT_OF_BOUNDS


def test_extents_that_follow_are_checked(tmp_path: Path) -> None:
    """Code for rows of one length must not get arrays with others."""
    library = shared(GEMM, tmp_path, sizes={"ni": 4, "nj": 5, "nk": 3, "C_dim1": 8})
    names = [name for _, name in library.parameters("gemm")]
    assert names == ["C", "C_dim0", "A", "A_dim0", "A_dim1", "B", "B_dim0", "B_dim1"]
    assert "@param A_dim1 extent 1 of A, must be 3" in library.header
    a, b, c = np.ones((4, 3)), np.full((3, 5), 2.0), np.zeros((4, 8))
    assert library("gemm", c, 4, a, 4, 4, b, 3, 5) == Status.WRONG_SHAPE
    assert library("gemm", c, 3, a, 4, 3, b, 3, 5) == Status.WRONG_SHAPE
    assert not c.any()
    assert library("gemm", c, 4, a, 4, 3, b, 3, 5) == Status.OK
    np.testing.assert_array_equal(c[:, :5], np.full((4, 5), 6.0))


def test_wide_rows(tmp_path: Path) -> None:
    """Arrays may be larger than what is computed on."""
    library = shared(GEMM, tmp_path)
    a, b, c = np.ones((4, 8)), np.ones((3, 16)), np.zeros((6, 7))
    assert library("gemm", 4, 5, 3, c, 6, 7, a, 4, 8, b, 3, 16) == Status.OK
    expected = np.zeros((6, 7))
    expected[:4, :5] = 3
    np.testing.assert_array_equal(c, expected)


def test_sizes_that_do_not_fit(tmp_path: Path) -> None:
    library = shared(GEMM, tmp_path)
    a, b, c = np.ones((4, 3)), np.ones((3, 5)), np.zeros((4, 5))
    for sizes in ((5, 5, 3), (4, 6, 3), (4, 5, 4)):
        assert library("gemm", *sizes, c, 4, 5, a, 4, 3, b, 3, 5) == Status.OUT_OF_BOUNDS
    assert library("gemm", 4, 5, 3, c, 4, 5, a, 4, -3, b, 3, 5) == Status.OUT_OF_BOUNDS
    assert not c.any()
    assert library("gemm", -4, 5, 3, c, 4, 5, a, 4, 3, b, 3, 5) == Status.OK
    assert library("gemm", 0, 5, 3, 0, 0, 5, 0, 0, 3, b, 3, 5) == Status.OK
    assert not c.any()


def test_arrays_that_overlap(tmp_path: Path) -> None:
    library = shared(SAXPY, tmp_path)
    memory = np.arange(20, dtype=np.float32)
    before = memory.copy()
    for start in (0, 3, 7, 9):
        x, y = memory[start : start + 10], memory[8:18]
        overlap = library("saxpy", 10, 1.0, x, 10, y, 10)
        assert overlap == Status.OVERLAP, start
        assert library("saxpy", 10, 1.0, y, 10, x, 10) == Status.OVERLAP, start
    np.testing.assert_array_equal(memory, before)
    assert library("saxpy", 8, 1.0, memory, 8, memory[8:], 8) == Status.OK
    np.testing.assert_array_equal(memory[8:16], before[8:16] + before[:8])
    # an array without elements overlaps none
    assert library("saxpy", 0, 1.0, memory[4:], 0, memory, 20) == Status.OK


def test_arrays_that_are_only_read_may_overlap(tmp_path: Path) -> None:
    library, result = shared(DOT, tmp_path), ctypes.c_double()
    x = np.arange(4.0)
    assert library("dot", 4, x, 4, x, 4, ctypes.addressof(result)) == Status.OK
    assert result.value == 14


def test_arrays_that_are_not_aligned(tmp_path: Path) -> None:
    library, result = shared(DOT, tmp_path), ctypes.c_double()
    x, address = np.arange(4.0), ctypes.addressof(result)
    assert library("dot", 3, x, 4, x.ctypes.data + 4, 3, address) == Status.MISALIGNED
    assert library("dot", 3, x, 4, x.ctypes.data + 8, 3, address) == Status.OK


def test_memory_that_cannot_be_had(tmp_path: Path) -> None:
    program = """
    func.func @reverse(%n: index, %m: index, %A: memref<?xf64>) {
      %t = memref.alloc(%m) : memref<?xf64>
      affine.for %i = 0 to %n {
        %0 = affine.load %A[%n - %i - 1] : memref<?xf64>
        affine.store %0, %t[%i] : memref<?xf64>
      }
      affine.for %i = 0 to %n {
        %0 = affine.load %t[%i] : memref<?xf64>
        affine.store %0, %A[%i] : memref<?xf64>
      }
      memref.dealloc %t : memref<?xf64>
      return
    }
    """
    library = shared(program.replace("%n - %i - 1", "%n - 1 - %i"), tmp_path)
    a = np.arange(4.0)
    assert library("reverse", 4, 1 << 50, a, 4) == Status.OUT_OF_MEMORY
    assert library("reverse", 4, -1, a, 4) == Status.OUT_OF_BOUNDS
    np.testing.assert_array_equal(a, np.arange(4.0))
    assert library("reverse", 4, 4, a, 4) == Status.OK
    np.testing.assert_array_equal(a, np.arange(4.0)[::-1])
    assert not hasattr(library.code, "loopwright_failed_allocations")


def test_scalars_and_results(tmp_path: Path) -> None:
    library = shared(SCALARS, tmp_path)
    kinds = [kind for kind, _ in library.parameters("scalars")]
    assert kinds == [
        *("int32_t", "int64_t", "bool", "float", "double", "int64_t", "double *"),
        *("int32_t *", "int64_t *", "bool *", "float *", "double *", "int64_t *"),
    ]
    cells = [
        *(ctypes.c_int32(), ctypes.c_int64(), ctypes.c_bool()),
        *(ctypes.c_float(), ctypes.c_double(), ctypes.c_int64()),
    ]
    p = np.zeros(())
    pointers = [ctypes.addressof(cell) for cell in cells]
    assert library("scalars", -3, 1 << 40, True, 0.5, 0.25, 9, p, *pointers) == Status.OK
    assert [cell.value for cell in cells] == [-3, 1 << 40, True, 0.5, 0.25, 9]
    assert p == 0.25


def test_small_integers(tmp_path: Path) -> None:
    library = shared(ADD_BYTES, tmp_path)
    x = np.array([1, 2, 127], np.int8)
    assert library("add_bytes", 3, x, 3, -2) == Status.OK
    assert x.tolist() == [-1, 0, 125]


def test_static_shapes(tmp_path: Path) -> None:
    library = shared(FIXED, tmp_path)
    a, out = np.arange(12, dtype=np.int32).reshape(4, 3), np.zeros((4, 3), np.int32)
    assert library("fixed", a, out) == Status.OK
    np.testing.assert_array_equal(out, 2 * a)


CALLS = """
func.func @double_all(%n: index, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf64>
    %1 = arith.addf %0, %0 : f64
    affine.store %1, %x[%i] : memref<?xf64>
  }
  return
}
func.func @twice(%n: index, %x: memref<?xf64>) {
  func.call @double_all(%n, %x) : (index, memref<?xf64>) -> ()
  func.call @double_all(%n, %x) : (index, memref<?xf64>) -> ()
  return
}
"""


@pytest.mark.parametrize("schedule", [None, ""])
def test_functions_that_call_others(schedule: str | None, tmp_path: Path) -> None:
    library = shared(CALLS, tmp_path, schedules=dict.fromkeys(("twice", "double_all"), schedule))
    x = np.arange(4.0)
    assert library("twice", 4, x, 4) == Status.OK
    assert library("double_all", 4, x, 4) == Status.OK
    np.testing.assert_array_equal(x, 8 * np.arange(4.0))
    assert library("twice", 5, x, 4) == Status.OUT_OF_BOUNDS


def test_names_that_c_has_already(tmp_path: Path) -> None:
    library = shared(SAXPY.replace("@saxpy", "@new").replace("%alpha", "%class"), tmp_path)
    assert [name for _, name in library.parameters("new_")][:2] == ["n", "class_"]
    x = np.ones(3, np.float32)
    y = x.copy()
    assert library("new_", 3, 2.0, x, 3, y, 3) == Status.OK
    assert y.tolist() == [3, 3, 3]


def test_dimensions_by_which_a_program_goes(tmp_path: Path) -> None:
    """Of an array that is only asked for its size, nothing is inferred."""
    program = """
    func.func @count(%n: index, %shape: memref<?xf64>, %x: memref<?xf64>) {
      %zero = arith.constant 0 : index
      %m = memref.dim %shape, %zero : memref<?xf64>
      %one = arith.constant 1.0 : f64
      affine.for %i = 0 to %m {
        affine.for %j = 0 to %n {
          affine.store %one, %x[%j] : memref<?xf64>
        }
      }
      return
    }
    """
    library = shared(program, tmp_path, sizes={"n": 3})
    names = [name for _, name in library.parameters("count")]
    assert names == ["shape", "shape_dim0", "x", "x_dim0"]
    x = np.zeros(3)
    assert library("count", x, 4, x, 3) == Status.OK
    assert x.tolist() == [1, 1, 1]


def test_sizes_with_which_checks_would_overflow(tmp_path: Path) -> None:
    library = shared(SAXPY, tmp_path)
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    for large in (2**61 + 4, 2**62, 2**63 - 1, -(2**63)):
        assert library("saxpy", large, 1.0, x, 4, y, 4) == Status.OUT_OF_BOUNDS
        assert library("saxpy", 4, 1.0, x, large, y, large) == Status.OUT_OF_BOUNDS
        assert library("saxpy", large, 1.0, x, large, y, large) == Status.OUT_OF_BOUNDS
    assert not y.any()
    (tmp_path / "gemm").mkdir()
    gemm = shared(GEMM, tmp_path / "gemm")
    c = np.zeros((4, 5))
    rows = 2**61 + 4  # of eight bytes: their number is 32 in 64 bits
    assert gemm("gemm", 4, 5, 3, c, 4, 5, c, rows, 1, c, 3, 5) == Status.OUT_OF_BOUNDS


def test_null_pointers(tmp_path: Path) -> None:
    library = shared(SAXPY, tmp_path)
    x = np.ones(4, np.float32)
    assert library("saxpy", 4, 1.0, 0, 4, x, 4) == Status.NULL_POINTER
    assert library("saxpy", 4, 1.0, x, 4, 0, 4) == Status.NULL_POINTER
    assert library("saxpy", 0, 1.0, 0, 0, 0, 0) == Status.OK
    np.testing.assert_array_equal(x, np.ones(4, np.float32))
