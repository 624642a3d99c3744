"""Operations of arith refuse types that do not fit together."""

from __future__ import annotations

import pytest

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module

ARGUMENTS = "%x: f64, %i: i32, %l: i64, %n: index, %c: i1, %v: vector<8xf64>, %m: vector<4xi1>"
MISTAKES = {
    "arith.extsi %l : i64 to i32": "cannot convert i64 to i32",
    "arith.extui %i : i32 to i32": "cannot convert i32 to i32",
    "arith.trunci %i : i32 to i64": "cannot convert i32 to i64",
    "arith.trunci %i : i32 to f32": "cannot convert i32 to f32",
    "arith.sitofp %i : i32 to i64": "cannot convert i32 to i64",
    "arith.uitofp %x : f64 to f32": "cannot convert f64 to f32",
    "arith.fptosi %i : i32 to i32": "cannot convert i32 to i32",
    "arith.fptoui %v : vector<8xf64> to i32": "cannot convert vector<8xf64> to i32",
    "arith.fptosi %v : vector<8xf64> to vector<4xi32>": (
        "cannot convert vector<8xf64> to vector<4xi32>"
    ),
    "arith.index_cast %i : i32 to i64": "cannot convert i32 to i64",
    "arith.index_cast %n : index to index": "cannot convert index to index",
    "arith.select %m, %v, %v : vector<4xi1>, vector<8xf64>": (
        "a choice of vector<8xf64> cannot depend on vector<4xi1>"
    ),
    "arith.select %i, %x, %x : i32, f64": "a choice of f64 cannot depend on i32",
    '"arith.select"(%c, %x, %i) : (i1, f64, i32) -> f64': (
        "both choices must have the type of the result"
    ),
    "arith.cmpi slt, %x, %x : f64": "cannot compare f64 with f64",
    "arith.cmpf olt, %i, %i : i32": "cannot compare i32 with i32",
    "arith.cmpi olt, %i, %i : i32": "unknown comparison 'olt'",
    '"arith.cmpi"(%i, %i) <{predicate = 10 : i64}> : (i32, i32) -> i1': "unknown comparison",
    '"arith.cmpi"(%i, %i) <{predicate = 1 : i64}> : (i32, i32) -> i32': (
        "a comparison of i32 gives i1"
    ),
    '"arith.extsi"() : () -> i32': "'arith.extsi' has one operand and one result",
}


@pytest.mark.parametrize("operation", MISTAKES)
def test_mistake(operation: str) -> None:
    with pytest.raises(SourceError) as raised:
        parse_module(f"func.func @f({ARGUMENTS}) {{\n  %0 = {operation}\n  return\n}}")
    assert raised.value.message == MISTAKES[operation]
    location = raised.value.location
    assert location is not None
    assert location.line == 2
