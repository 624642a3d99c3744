"""Flags of arithmetic that MLIR prints, spaces in types, and generic forms that lack something."""

from __future__ import annotations

import io

import pytest
from xdsl.printer import Printer

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module

ARGUMENTS = "%a: i32, %b: i8, %d: f64, %s: f32, %v: vector<4xf64>, %n: index"
OPERATIONS = [
    "arith.divsi %a, %a exact : i32",
    "arith.divui %a, %a exact {x} : i32",
    "arith.shrsi %a, %a exact : i32",
    "arith.shrui %a, %a : i32",
    "arith.trunci %a overflow<nsw> : i32 to i8",
    "arith.trunci %a overflow<nsw,nuw> {k = 1 : i32} : i32 to i8",
    "arith.extui %b nneg : i8 to i32",
    "arith.uitofp %b nneg : i8 to f32",
    "arith.truncf %d to_nearest_even : f64 to f32",
    "arith.truncf %d to_nearest_even fastmath<nnan> : f64 to f32",
    "arith.extf %s fastmath<fast> : f32 to f64",
    "arith.index_castui %a : i32 to index",
    "arith.index_castui %n nneg : index to i8",
    "math.isnan %d : f64",
    "math.isinf %s fastmath<contract> : f32",
    "math.isfinite %v : vector<4xf64>",
    "math.isnormal %d : f64",
]


def program(operation: str) -> str:
    return f"func.func @f({ARGUMENTS}) {{\n  %0 = {operation}\n  return\n}}"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_read_and_printed_in_both_forms(operation: str) -> None:
    module = parse_module(program(operation))
    assert f"%0 = {operation}" in str(module)
    generic = io.StringIO()
    Printer(generic, print_generic_format=True).print_op(module)
    assert str(parse_module(generic.getvalue())) == str(module)


def test_flags_may_be_properties() -> None:
    text = program('"arith.divsi"(%a, %a) <{isExact}> : (i32, i32) -> i32')
    assert "arith.divsi %a, %a exact : i32" in str(parse_module(text))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("arith.truncf %d downward : f64 to f32", "only rounding 'to_nearest_even' is supported"),
        (
            '"arith.truncf"(%d) {roundingmode = 9 : i32} : (f64) -> f32',
            "'roundingmode' is none of to_nearest_even, downward, upward, toward_zero, "
            "to_nearest_away",
        ),
        ('"arith.divsi"(%a, %a) {isExact = 1 : i32} : (i32, i32) -> i32', "'isExact' is no unit"),
        ("arith.truncf %s : f32 to f64", "cannot convert f32 to f64"),
        ("arith.extf %d : f64 to f32", "cannot convert f64 to f32"),
        ("arith.index_castui %a : i32 to i64", "cannot convert i32 to i64"),
        ("math.isnan %a : i32", "i32 is no floating-point type"),
        ('"math.isnan"(%d) : (f64) -> f64', "the class of f64 is i1"),
    ],
)
def test_mistakes(operation: str, message: str) -> None:
    with pytest.raises(SourceError) as raised:
        parse_module(program(operation))
    assert raised.value.message == message
    assert raised.value.location is not None
    assert raised.value.location.line == 2


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("memref<8 x 6 x f32>", "memref<8x6xf32>"),
        ("memref<? x6 xf32>", "memref<?x6xf32>"),
        ("memref< 8x ?x f32 >", "memref<8x?xf32>"),
        ("memref<0x4xf32>", "memref<0x4xf32>"),
        ("memref<f32>", "memref<f32>"),
        ("memref<2 x vector<4 x f32>>", "memref<2xvector<4xf32>>"),
    ],
)
def test_spaces_in_shapes(written: str, meant: str) -> None:
    assert f"%A: {meant})" in str(parse_module(f"func.func @f(%A: {written}) {{ return }}"))


@pytest.mark.parametrize("shape", ["8x xf32", "8 x", "x 8xf32", "8 6xf32", "8x6", "8x?"])
def test_shapes_that_are_none(shape: str) -> None:
    with pytest.raises(SourceError, match=r"^<string>:1:\d+: error: "):
        parse_module(f"func.func @f(%A: memref<{shape}>) {{ return }}")


LOOP = {
    "lowerBoundMap": "affine_map<() -> (0)>",
    "upperBoundMap": "affine_map<()[s0] -> (s0)>",
    "step": "1 : index",
    "operandSegmentSizes": "array<i32: 0, 1, 0>",
}


@pytest.mark.parametrize("removed", LOOP)
@pytest.mark.parametrize("replacement", [None, "1.0 : f64", "array<i32: 9, 9, 9>", '"x"'])
def test_a_generic_loop_without_one_of_its_parts(removed: str, replacement: str | None) -> None:
    parts = {**LOOP, removed: replacement}
    text = ", ".join(f"{name} = {value}" for name, value in parts.items() if value is not None)
    with pytest.raises(SourceError) as raised:
        parse_module(
            "func.func @f(%n: index) {\n"
            f'  "affine.for"(%n) <{{{text}}}> ({{\n'
            '  ^bb0(%i: index):\n    "affine.yield"() : () -> ()\n'
            "  }) : (index) -> ()\n  return\n}"
        )
    assert raised.value.location is not None
    assert raised.value.location.line == 2
    assert "\n" not in raised.value.message
