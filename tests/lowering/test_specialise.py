"""Binding sizes: the specialised function is the same function at those sizes."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_code import MachineCode
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp

import loopwright
from loopwright.dialects.parse import parse_module
from loopwright.errors import SourceError
from loopwright.lowering.specialise import specialise
from loopwright.passes.polyhedral.size_assumptions import assumptions

TEXT = """
func.func @scale(%n: index, %x: f64, %A: memref<?x7xf64>, %k: i32, %B: memref<?xf64>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %A, %c0 : memref<?x7xf64>
  %columns = memref.dim %A, %c1 : memref<?x7xf64>
  %C = memref.cast %B : memref<?xf64> to memref<?xf64>
  %size = memref.dim %C, %c0 : memref<?xf64>
  %k0 = arith.index_cast %k : i32 to index
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %columns {
      %a = affine.load %A[%i, %j] : memref<?x7xf64>
      %y = arith.mulf %a, %x : f64
      affine.store %y, %C[%i * 7 + %j + symbol(%k0)] : memref<?xf64>
    }
  }
  %r = arith.addi %rows, %size : index
  return %r : index
}
"""


def function() -> func.FuncOp:
    (op,) = parse_module(TEXT).ops
    assert isinstance(op, func.FuncOp)
    return op


def test_same_results_at_the_bound_sizes() -> None:
    special = specialise(function(), {2: (5, 7), 4: (40,)}, {0: 5, 3: 2})
    special.verify()
    code = MachineCode(ModuleOp([special]))
    original = MachineCode(TEXT)
    a = np.arange(35.0).reshape(5, 7)
    found, expected = np.zeros(40), np.zeros(40)
    assert code("scale", 5, 0.5, a, 2, found) == 45
    assert original("scale", 5, 0.5, a, 2, expected) == 45
    np.testing.assert_array_equal(found, expected)


def test_types_are_static_and_sizes_constants() -> None:
    special = specialise(function(), {2: (5, 7), 4: (40,)}, {0: 5, 3: 2})
    assert not any(isinstance(op, memref.DimOp) for op in special.walk())
    kinds = [kind for kind in special.function_type.inputs if isinstance(kind, MemRefType)]
    assert [kind.get_shape() for kind in kinds] == [(5, 7), (40,)]
    dynamic = [
        op.name
        for op in special.walk()
        for operand in op.operands
        if isinstance(operand.type, MemRefType) and DYNAMIC_INDEX in operand.type.get_shape()
    ]
    assert dynamic == ["affine.store"], "only through the cast"
    assert list(special.function_type.inputs) == list(special.body.block.arg_types)
    for position in (0, 3):
        assert not list(special.body.block.args[position].uses)


def test_the_original_stays_as_it_is() -> None:
    original = function()
    before = str(original)
    specialise(original, {2: (5, 7), 4: (40,)}, {0: 5})
    assert str(original) == before


def test_a_part_of_the_sizes_may_stay_open() -> None:
    special = specialise(function(), {2: (5, 7)}, {})
    special.verify()
    code = MachineCode(ModuleOp([special]))
    a, b = np.ones((5, 7)), np.zeros(40)
    assert code("scale", 4, 3.0, a, 1, b) == 45
    assert b.sum() == 3 * 28


def test_assumptions_are_of_the_extents_that_stay_open() -> None:
    text = """
func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?xf64>) attributes {
    loopwright.assume = affine_set<(d0)[s0, s1, s2] : (d0 - s0 == 0, s1 - s2 == 0)>,
    loopwright.refused = [affine_set<(d0)[s0, s1, s2] : (s2 - 7 >= 0)>]} {
  affine.for %i = 0 to %n {
    %v = affine.load %B[0] : memref<?xf64>
    affine.store %v, %A[%i, 0] : memref<?x?xf64>
  }
  return
}"""
    (written,) = parse_module(text).ops
    assert isinstance(written, func.FuncOp)
    known: list[dict[int, tuple[int, ...]]] = [{}, {1: (5, 6)}, {1: (5, 6), 2: (6,)}]
    special = written
    for shapes, symbols in zip(known, (3, 1, 0), strict=True):
        special = specialise(written, shapes, {})
        (again,) = parse_module(str(special)).ops
        assert isinstance(again, func.FuncOp)
        sets = list(assumptions(again))
        assert [refused for refused, _ in sets] == [False, True]
        assert {one.num_symbols for _, one in sets} == {symbols}
    loaded = loopwright.load(str(special))["f"]
    loaded.compile(None)(5, np.zeros((5, 6)), np.zeros(6))
    with pytest.raises(SourceError, match="n=4"):
        loaded.compile(None)(4, np.zeros((5, 6)), np.zeros(6))


@pytest.mark.parametrize(
    ("shapes", "integers"),
    [({2: (5, 8)}, {}), ({2: (5,)}, {}), ({1: (5,)}, {}), ({}, {1: 5}), ({}, {2: 5})],
)
def test_contradictions_are_refused(
    shapes: dict[int, tuple[int, ...]], integers: dict[int, int]
) -> None:
    with pytest.raises(ValueError, match=r"scale: argument \d"):
        specialise(function(), shapes, integers)


def test_calls_still_pass_what_the_callee_takes() -> None:
    module = parse_module("""
    func.func @f(%A: memref<?xf64>, %n: index) {
      func.call @g(%A, %n) : (memref<?xf64>, index) -> ()
      return
    }
    func.func @g(%A: memref<?xf64>, %n: index) {
      affine.for %i = 0 to %n {
        %x = arith.constant 2.0 : f64
        affine.store %x, %A[%i] : memref<?xf64>
      }
      return
    }""")
    first, second = module.ops
    assert isinstance(first, func.FuncOp)
    special = specialise(first, {0: (6,)}, {1: 4})
    second.detach()
    code = MachineCode(ModuleOp([special, second]))
    a = np.zeros(6)
    code("f", a, 4)
    assert a.tolist() == [2, 2, 2, 2, 0, 0]
