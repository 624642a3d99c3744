"""Which values are dimensions and symbols, and which types can be compiled."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from loopwright.dialects.affine import is_valid_dim, is_valid_symbol
from loopwright.dialects.errors import SourceError
from loopwright.dialects.locations import name_of
from loopwright.dialects.parse import parse_module
from loopwright.dialects.supported_types import check_types

TEXT = """
func.func @f(%argument: index, %integer: i32, %A: memref<?xindex>) {
  %top = memref.load %A[%argument] : memref<?xindex>
  %zero = arith.constant 0 : index
  affine.for %i = 0 to 10 {
    affine.parallel (%j) = (0) to (10) {
      %constant = arith.constant 3 : index
      %cast = arith.index_cast %integer : i32 to index
      %product = arith.muli %cast, %argument : index
      %moving_product = arith.muli %i, %argument : index
      %square = arith.muli %i, %j : index
      %reversed_quotient = arith.floordivsi %argument, %i : index
      %apply = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %j)
      %symbolic_apply = affine.apply affine_map<(d0) -> (d0 + 1)>(%argument)
      %minimum = affine.min affine_map<(d0) -> (d0, 8)>(%apply)
      %less = arith.cmpi slt, %i, %j : index
      %both = arith.andi %less, %less : i1
      %choice = arith.select %both, %i, %minimum : index
      %size = memref.dim %A, %zero : memref<?xindex>
      %loaded = memref.load %A[%i] : memref<?xindex>
      %depends = arith.cmpi slt, %loaded, %j : index
      %loaded_choice = arith.select %depends, %i, %j : index
      %from_loaded = affine.apply affine_map<(d0) -> (d0 + 1)>(%loaded)
      %local = memref.alloc(%argument) : memref<?xf64>
      %local_size = memref.dim %local, %zero : memref<?xf64>
      %moving = memref.alloc(%loaded) : memref<?xf64>
      %moving_size = memref.dim %moving, %zero : memref<?xf64>
      scf.for %k = %zero to %argument step %constant {
      }
    }
  }
  return
}
"""
SYMBOLS = {
    *("%argument", "%integer", "%top", "%zero", "%constant", "%cast", "%product", "%size"),
    *("%symbolic_apply", "%local_size"),
}
DIMS = {
    *SYMBOLS,
    *("%i", "%j", "%apply", "%minimum", "%less", "%both", "%choice", "%moving_product"),
}


def test_dims_and_symbols() -> None:
    values = [
        value
        for op in parse_module(TEXT).walk()
        for value in (*op.results, *(arg for r in op.regions for b in r.blocks for arg in b.args))
    ]
    assert {name_of(value) for value in values if is_valid_symbol(value)} == SYMBOLS
    assert {name_of(value) for value in values if is_valid_dim(value)} == DIMS


def test_shared_operands_are_looked_at_once() -> None:
    lines = [f"    %v{n + 1} = arith.addi %v{n}, %v{n} : index" for n in range(200)]
    text = "\n".join(
        [
            "func.func @f(%v0: index, %A: memref<?xf64>, %x: f64) {",
            "  affine.for %i = 0 to 10 {",
            *lines,
            "    affine.store %x, %A[%v200] : memref<?xf64>",
            "  }",
            "  return",
            "}",
        ]
    )
    assert parse_module(text).ops


TYPES = {
    "memref<?x8xf64>": None,
    "memref<f32>": None,
    "memref<4xi1>": None,
    "memref<4x4xindex, affine_map<(d0, d1) -> (d0, d1)>>": None,
    "vector<8xf32>": None,
    "i64": None,
    "f16": None,
    "f80": "this type is not supported",
    "i7": "this type is not supported",
    "si32": "this type is not supported",
    "!llvm.ptr": "this type is not supported",
    "tensor<4xf64>": "this type is not supported",
    "memref<*xf64>": "this type is not supported",
    "memref<4xf16>": None,
    "memref<4xf128>": "elements of type f128 are not supported",
    "memref<4xcomplex<f32>>": "elements of type complex<f32> are not supported",
    "vector<4xbf16>": None,
    "vector<4xf128>": "elements of type f128 are not supported",
    "memref<4xf64, strided<[2]>>": "only row-major, contiguous memrefs are supported",
    "memref<4x4xf64, affine_map<(d0, d1) -> (d1, d0)>>": (
        "only row-major, contiguous memrefs are supported"
    ),
    "memref<4xf64, 1 : i32>": "memory spaces are not supported",
    "memref<4294967296x4294967296xf64>": "it is larger than any memory",
}


@pytest.mark.parametrize("type", TYPES)
def test_types(type: str) -> None:
    module = parse_module(f"func.func @f(%a: {type}) {{\n  return\n}}", "f.mlir")
    function = next(iter(module.ops))
    assert isinstance(function, FuncOp)
    reason = TYPES[type]
    if reason is None:
        check_types(function)
        return
    with pytest.raises(SourceError) as raised:
        check_types(function)
    assert str(raised.value.location) == "f.mlir:1:14"
    assert raised.value.message.endswith(f": {reason}")
    assert raised.value.hint is not None
