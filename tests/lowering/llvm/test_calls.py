"""Signatures, results and calls between functions."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_code import MachineCode

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.lowering.llvm import translate
from loopwright.lowering.llvm.names import symbol
from loopwright.passes.machine.target import Target


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("i1", [True, False]),
        ("i8", [-128, 127, 0]),
        ("i16", [-32768, 5]),
        ("i32", [-(1 << 31), 7]),
        ("i64", [-(1 << 63), (1 << 63) - 1]),
        ("index", [-1, 1 << 40]),
        ("f32", [0.5, -3.0]),
        ("f64", [0.1, float("inf")]),
    ],
)
def test_arguments_and_results(kind: str, values: list[float]) -> None:
    code = MachineCode(f"""
    func.func @one(%x: {kind}) -> {kind} {{
      return %x : {kind}
    }}
    func.func @several(%x: {kind}, %y: {kind}, %z: f64) -> ({kind}, f64, {kind}) {{
      return %y, %z, %x : {kind}, f64, {kind}
    }}""")
    for value in values:
        assert code("one", value) == value
        assert code("several", value, values[0], 2.5) == (values[0], 2.5, value)


def test_calls_pass_sizes_values_and_results() -> None:
    code = MachineCode("""
    func.func @sum(%A: memref<?x3xf64>, %scale: f64) -> f64 {
      %c0 = arith.constant 0 : index
      %n = memref.dim %A, %c0 : memref<?x3xf64>
      %zero = arith.constant 0.0 : f64
      %r = affine.for %i = 0 to %n iter_args(%s = %zero) -> (f64) {
        %x = affine.load %A[%i, 1] : memref<?x3xf64>
        %t = arith.addf %s, %x : f64
        affine.yield %t : f64
      }
      %q = arith.mulf %r, %scale : f64
      return %q : f64
    }
    func.func @both(%A: memref<?x3xf64>, %x: f64) -> (f64, i1) {
      %s = func.call @sum(%A, %x) : (memref<?x3xf64>, f64) -> f64
      %positive = arith.cmpf ogt, %s, %x : f64
      return %s, %positive : f64, i1
    }
    func.func @f(%A: memref<5x3xf64>) -> f64 {
      %two = arith.constant 2.0 : f64
      %B = memref.cast %A : memref<5x3xf64> to memref<?x3xf64>
      %r:2 = func.call @both(%B, %two) : (memref<?x3xf64>, f64) -> (f64, i1)
      %x = arith.select %r#1, %r#0, %two : f64
      return %x : f64
    }""")
    a = np.arange(15.0).reshape(5, 3)
    assert code("f", a) == 2 * a[:, 1].sum()
    assert code("sum", a[:2], 1.0) == a[:2, 1].sum()


ALIASED = """
func.func private @shift(%A: memref<?xf64>, %B: memref<?xf64>, %n: index) {
  affine.for %i = 0 to %n {
    %x = affine.load %A[%i] : memref<?xf64>
    %one = arith.constant 1.0 : f64
    %y = arith.addf %x, %one : f64
    affine.store %y, %B[%i + 1] : memref<?xf64>
  }
  return
}
func.func private @through(%A: memref<?xf64>, %B: memref<?xf64>, %n: index) {
  func.call @shift(%A, %B, %n) : (memref<?xf64>, memref<?xf64>, index) -> ()
  return
}
func.func @f(%A: memref<?xf64>, %n: index) {
  %B = memref.cast %A : memref<?xf64> to memref<?xf64>
  func.call @through(%A, %B, %n) : (memref<?xf64>, memref<?xf64>, index) -> ()
  return
}
"""


def test_a_memref_passed_twice_is_no_reason_to_reorder() -> None:
    a = np.zeros(50)
    MachineCode(ALIASED)("f", a, 49)
    np.testing.assert_array_equal(a, np.arange(50.0))


def test_arguments_that_nobody_shares_are_noalias() -> None:
    text = ALIASED.replace("@through(%A, %B, %n) :", "@through(%A, %C, %n) :").replace(
        "%B = memref.cast %A : memref<?xf64> to memref<?xf64>",
        "%C = memref.alloc(%n) : memref<?xf64>",
    )
    assert str(MachineCode(text).llvm_ir).count("noalias") == 6
    assert str(MachineCode(ALIASED).llvm_ir).count("noalias") == 1


def test_parallel_loop_in_a_called_function() -> None:
    code = MachineCode(
        """
    func.func @row(%A: memref<?x?xi64>, %i: index, %n: index) {
      affine.parallel (%j) = (0) to (%n) {
        %k = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 100)>(%j)[%i]
        %v = arith.index_cast %k : index to i64
        affine.store %v, %A[symbol(%i), %j] : memref<?x?xi64>
      }
      return
    }
    func.func @f(%A: memref<?x?xi64>, %n: index) {
      affine.parallel (%i) = (0) to (%n) {
        func.call @row(%A, %i, %n) : (memref<?x?xi64>, index, index) -> ()
      }
      return
    }""",
        threads=2,
    )
    a = np.zeros((9, 9), np.int64)
    code("f", a, 9)
    np.testing.assert_array_equal(a, 100 * np.arange(9)[:, None] + np.arange(9))


def refusal(text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        translate(parse_module(text, "k.mlir"), target=Target.host())
    return caught.value


def test_recursion_is_refused() -> None:
    error = refusal("""
func.func @g(%n: index) {
  func.call @f(%n) : (index) -> ()
  return
}
func.func @f(%n: index) {
  func.call @g(%n) : (index) -> ()
  return
}""")
    assert "recursive" in str(error)
    assert str(error).startswith("k.mlir:")


def test_functions_without_a_body_are_refused() -> None:
    error = refusal("""
func.func private @elsewhere(index)
func.func @f(%n: index) {
  func.call @elsewhere(%n) : (index) -> ()
  return
}""")
    assert str(error).startswith("k.mlir:4:3: error: call of 'elsewhere'")


def test_types_that_cannot_be_compiled_are_refused() -> None:
    error = refusal("func.func @f(%x: i7) {\n  return\n}")
    assert str(error).startswith("k.mlir:1:14: error: type 'i7'")


def test_other_layouts_are_refused() -> None:
    error = refusal("func.func @f(%A: memref<4xf64, strided<[2]>>) {\n  return\n}")
    assert "row-major" in str(error)


def test_operations_that_cannot_be_compiled_are_refused() -> None:
    error = refusal("""
func.func @f(%A: memref<4xf32>) {
  %B = memref.get_global @g : memref<4xf32>
  return
}
memref.global "private" constant @g : memref<4xf32> = dense<1.0>
""")
    assert "cannot be compiled" in str(error)


def test_a_function_brings_those_that_it_calls() -> None:
    module = parse_module(ALIASED + "func.func @other() {\n  return\n}\n")
    by_name = {function.sym_name.data: function for function in module.ops}  # pyright: ignore
    text = str(translate(by_name["through"], target=Target.host()))
    assert f'define void @"{symbol("through")}"' in text
    assert f'define void @"{symbol("shift")}"' in text
    assert symbol("other") not in text


def test_names_of_the_c_library_are_free_to_use() -> None:
    code = MachineCode("""
    func.func @memcpy(%A: memref<?xf64>, %B: memref<?xf64>, %n: index) {
      affine.for %i = 0 to %n {
        %x = affine.load %B[%i] : memref<?xf64>
        affine.store %x, %A[%i] : memref<?xf64>
      }
      return
    }
    func.func @exp(%x: f64) -> f64 {
      %y = math.exp %x : f64
      return %y : f64
    }""")
    a, b = np.zeros(1000), np.arange(1000.0)
    code("memcpy", a, b, 1000)
    np.testing.assert_array_equal(a, b)
    assert code("exp", 0.0) == 1.0
