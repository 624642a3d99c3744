"""Forms that public programs have: prints, hints of other dialects, globals, parts handed over."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.runtime.program import load

SCHEDULES = pytest.mark.parametrize("schedule", [None, "default"])

PRINTS = """
func.func private @printMemrefF32(memref<*xf32>)
func.func @f(%A: memref<2x3xf32>, %x: f64, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.cmpi eq, %n, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    vector.print %i : index punctuation <comma>
  }
  vector.print %x : f64
  vector.print %b : i1
  %v = vector.load %A[%c1, %c0] : memref<2x3xf32>, vector<3xf32>
  vector.print %v : vector<3xf32>
  vector.print str "done\\n"
  vector.print punctuation <newline>
  %u = memref.cast %A : memref<2x3xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}
"""


@SCHEDULES
def test_prints(schedule: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    text = str(parse_module(PRINTS))
    assert str(parse_module(text)) == text
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    load(PRINTS)["f"].compile(schedule)(array, 1.5, 3)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == ["0, 1, 2, 1.5", "0", "( 3, 4, 5 )", "done", ""]
    assert lines[5].endswith("rank = 2 offset = 0 sizes = [2, 3] strides = [3, 1] data = ")
    assert lines[6:] == ["[[0,  1,  2], ", " [3,  4,  5]]"]


@SCHEDULES
def test_memory_of_any_rank(schedule: str | None) -> None:
    seen: list[Any] = []

    def take(data: int, rank: int, extents: int) -> None:
        shape = list((ctypes.c_int64 * rank).from_address(extents))
        memory = (ctypes.c_float * int(np.prod(shape))).from_address(data)
        seen.append((shape, list(memory)))
        memory[0] = 40.0

    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    loopwright.register_function("take_any_rank", kind(take))
    text = """
    func.func private @take_any_rank(memref<*xf32>)
    func.func @f(%A: memref<?x4xf32>) {
      %p = memref.subview %A[1, 1] [2, 2] [1, 2]
        : memref<?x4xf32> to memref<2x2xf32, strided<[4, 2], offset: 5>>
      %u = memref.cast %p : memref<2x2xf32, strided<[4, 2], offset: 5>> to memref<*xf32>
      %w = memref.cast %A : memref<?x4xf32> to memref<*xf32>
      call @take_any_rank(%u) : (memref<*xf32>) -> ()
      call @take_any_rank(%w) : (memref<*xf32>) -> ()
      return
    }"""
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    load(text)["f"].compile(schedule)(array)
    changed = np.arange(12, dtype=np.float32)
    changed[5] = 40
    assert seen == [([2, 2], [5, 7, 9, 11]), ([3, 4], list(changed))]
    changed[0] = 40
    np.testing.assert_array_equal(array.ravel(), changed)


def test_hints_of_other_dialects_are_kept_and_have_no_meaning() -> None:
    text = """
    func.func @f(%A: memref<8xf32, #gpu.address_space<workgroup>>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = arith.constant 1.0 : f32
      scf.parallel (%i) = (%c0) to (%n) step (%c1) -> () {
        memref.store %x, %A[%i] : memref<8xf32, #gpu.address_space<workgroup>>
      } {mapping = [#gpu.loop_dim_map<processor = block_x>]}
      return
    }"""
    assert "#gpu.address_space<workgroup>" in str(parse_module(text))
    found = np.zeros(8, np.float32)
    load(text)["f"].compile()(found, 5)
    np.testing.assert_array_equal(found, [1, 1, 1, 1, 1, 0, 0, 0])


GLOBAL = """
memref.global "private" @w : memref<3xf32> = dense<[1.0, 2.0, 4.0]>
func.func @f(%A: memref<3xf32>) {
  %w = memref.get_global @w : memref<3xf32>
  affine.for %i = 0 to 3 {
    %x = affine.load %w[%i] : memref<3xf32>
    affine.store %x, %A[%i] : memref<3xf32>
  }
  return
}
"""


def test_variables_that_nothing_writes_are_constants() -> None:
    found = np.zeros(3, np.float32)
    load(GLOBAL)["f"].compile()(found)
    np.testing.assert_array_equal(found, [1, 2, 4])


@pytest.mark.parametrize(
    "other",
    [
        "%c = arith.constant 0.0 : f32 affine.store %c, %v[0] : memref<3xf32>",
        "memref.copy %B, %v : memref<3xf32> to memref<3xf32>",
        "%s = memref.cast %v : memref<3xf32> to memref<?xf32> "
        "linalg.copy ins(%B : memref<3xf32>) outs(%s : memref<?xf32>)",
        "func.call @g(%v) : (memref<3xf32>) -> ()",
    ],
)
def test_variables_that_another_function_writes_are_none(other: str) -> None:
    text = f"""{GLOBAL}
    func.func private @g(memref<3xf32>)
    func.func @h(%B: memref<3xf32>) {{
      %v = memref.get_global @w : memref<3xf32>
      {other}
      return
    }}"""
    with pytest.raises(SourceError, match="keeps its values from call to call"):
        _ = load(text)["f"].scop


@SCHEDULES
def test_strided_metadata(schedule: str | None) -> None:
    text = """
    func.func @f(%A: memref<4x6xf32, strided<[?, ?], offset: ?>>, %B: memref<6xf32>) {
      %b, %o, %n:2, %s:2 = memref.extract_strided_metadata %A
        : memref<4x6xf32, strided<[?, ?], offset: ?>>
        -> memref<f32>, index, index, index, index, index
      %r = memref.reinterpret_cast %b to offset: [%o], sizes: [4, 6], strides: [%s#0, 1]
        : memref<f32> to memref<4x6xf32, strided<[?, 1], offset: ?>>
      affine.for %i = 0 to 6 {
        %x = affine.load %r[2, %i] : memref<4x6xf32, strided<[?, 1], offset: ?>>
        affine.store %x, %B[%i] : memref<6xf32>
      }
      return
    }"""
    given, found = np.arange(24, dtype=np.float32).reshape(4, 6), np.zeros(6, np.float32)
    load(text)["f"].compile(schedule)(given, found)
    np.testing.assert_array_equal(found, given[2])


def test_callers_of_imported_functions_keep_their_arguments() -> None:
    text = """
    func.func @made(%n: index) -> memref<?xf32> {
      %x = arith.constant 2.0 : f32
      %a = memref.alloc(%n) : memref<?xf32>
      linalg.fill ins(%x : f32) outs(%a : memref<?xf32>)
      return %a : memref<?xf32>
    }
    func.func @f(%A: memref<4xf32>) {
      %n = arith.constant 4 : index
      %a = call @made(%n) : (index) -> memref<?xf32>
      affine.for %i = 0 to 4 {
        %x = memref.load %a[%i] : memref<?xf32>
        memref.store %x, %A[%i] : memref<4xf32>
      }
      return
    }"""
    found = np.zeros(4, np.float32)
    load(text)["f"].compile()(found)
    np.testing.assert_array_equal(found, 2)


def test_branches_between_blocks_are_refused() -> None:
    text = """
    func.func @f(%A: memref<4xf32, strided<[1]>>) {
      cf.br ^next
    ^next:
      return
    }"""
    with pytest.raises(SourceError, match="branches between blocks"):
        _ = load(text)["f"].scop


@pytest.mark.parametrize(
    "line",
    [
        "%r = scf.for %i = %a to %b step %c iter_args(%x = %y) -> f32 { scf.yield %x : f32 }",
        "%r = scf.if %d -> f32 { scf.yield %y : f32 } else { scf.yield %y : f32 }",
        '%r = arith.cmpf "oeq", %y, %y : f32',
        "memref.prefetch %A[%a], write, locality<2>, data : memref<?xf32>",
        "memref.prefetch %A[%a], read, locality<0>, instr {x} : memref<?xf32>",
    ],
)
def test_short_forms_print_and_parse_again(line: str) -> None:
    head = "%A: memref<?xf32>, %a: index, %b: index, %c: index, %d: i1, %y: f32"
    printed = str(parse_module(f"func.func @f({head}) {{\n{line}\nreturn\n}}"))
    assert str(parse_module(printed)) == printed
