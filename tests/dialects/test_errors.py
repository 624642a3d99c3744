"""Every mistake is reported with its place, its reason and, where there is one, a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_file, parse_module

AFFINE_HINT = (
    "hint: affine operations take induction variables of affine loops, affine functions of these, "
    "and integers computed outside of all loops"
)
DIVISOR_HINT = "hint: write the divisor as a positive integer constant"
FACTOR_HINT = "hint: one factor must be an integer constant; write a size that is known as one"

# Each body is that of `func.func @f(%A: memref<?xf64>, %n: index, %x: f64)`, in line 2, and the
# expected error follows the name of the file and the line.
MISTAKES = {
    "unknown operation": (
        "  %0 = arith.addff %x, %x : f64",
        [
            "8: error: unknown operation 'arith.addff'",
            "  %0 = arith.addff %x, %x : f64",
            "       ^",
            "hint: did you mean 'arith.addf'?",
        ],
    ),
    "tabs stay in the line of the caret": (
        "\t\taffine.lod",
        [
            "3: error: unknown operation 'affine.lod'",
            "\t\taffine.lod",
            "\t\t^",
            "hint: did you mean 'affine.load'?",
        ],
    ),
    "undefined value": (
        "  affine.store %y, %A[%n] : memref<?xf64>",
        [
            "16: error: value %y is used, but not defined",
            "  affine.store %y, %A[%n] : memref<?xf64>",
            "               ^",
        ],
    ),
    "use before definition": (
        "  %0 = arith.addf %1, %x : f64  %1 = arith.addf %x, %x : f64",
        [
            "19: error: %1 is used before it is defined",
            "  %0 = arith.addf %1, %x : f64  %1 = arith.addf %x, %x : f64",
            "                  ^",
        ],
    ),
    "value of its own body": (
        "  affine.for %i = 0 to %i { }",
        [
            "14: error: %i is used before it is defined",
            "  affine.for %i = 0 to %i { }",
            "             ^",
        ],
    ),
    "value of another region": (
        "  affine.for %i = 0 to 9 { %y = arith.addf %x, %x : f64 }  %z = arith.negf %y : f64",
        [
            "76: error: value %y is used, but not defined",
            "  affine.for %i = 0 to 9 { %y = arith.addf %x, %x : f64 }  %z = arith.negf %y : f64",
            "                                                                           ^",
        ],
    ),
    "defined twice": (
        "  %x = arith.constant 1.0 : f64",
        [
            "3: error: SSA value %x is already defined",
            "  %x = arith.constant 1.0 : f64",
            "  ^",
        ],
    ),
    "wrong type": (
        "  %0 = arith.addf %n, %x : f64",
        [
            "19: error: operand is used with type f64, but has been previously used or defined "
            "with type index",
            "  %0 = arith.addf %n, %x : f64",
            "                  ^",
        ],
    ),
    "product of variables": (
        "  %0 = affine.load %A[%n * %n] : memref<?xf64>",
        [
            "26: error: product of two variables is not affine",
            "  %0 = affine.load %A[%n * %n] : memref<?xf64>",
            "                         ^",
            FACTOR_HINT,
        ],
    ),
    "floordiv by a symbol": (
        "  %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%n)[%n]",
        [
            "48: error: 'floordiv' by something other than a positive integer is not affine",
            "  %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%n)[%n]",
            "                                               ^",
            DIVISOR_HINT,
        ],
    ),
    "mod by zero": (
        "  %0 = affine.load %A[7 mod 0] : memref<?xf64>",
        [
            "25: error: 'mod' by something other than a positive integer is not affine",
            "  %0 = affine.load %A[7 mod 0] : memref<?xf64>",
            "                        ^",
            DIVISOR_HINT,
        ],
    ),
    "ceildiv by a negative number": (
        "  %0 = affine.load %A[%n ceildiv -2] : memref<?xf64>",
        [
            "26: error: 'ceildiv' by something other than a positive integer is not affine",
            "  %0 = affine.load %A[%n ceildiv -2] : memref<?xf64>",
            "                         ^",
            DIVISOR_HINT,
        ],
    ),
    "unknown dimension": (
        "  %0 = affine.apply affine_map<(d0) -> (d1)>(%n)",
        [
            "41: error: 'd1' is neither a dimension nor a symbol",
            "  %0 = affine.apply affine_map<(d0) -> (d1)>(%n)",
            "                                        ^",
        ],
    ),
    "data-dependent subscript": (
        "  affine.for %i = 0 to 9 { %0 = affine.load %A[%i] : memref<?xf64>"
        " %1 = arith.fptosi %0 : f64 to i32 %2 = arith.index_cast %1 : i32 to index"
        " affine.store %x, %A[%i + %2] : memref<?xf64> }",
        [
            "167: error: %2 is not affine: it cannot be used as a dimension",
            None,
            " " * 166 + "^",
            AFFINE_HINT,
        ],
    ),
    "induction variable as a symbol": (
        "  affine.for %i = 0 to 9 { affine.store %x, %A[symbol(%i)] : memref<?xf64> }",
        [
            "55: error: %i may change inside of loops: it cannot be used as a symbol",
            None,
            " " * 54 + "^",
            "hint: use it as a dimension",
        ],
    ),
    "number of subscripts": (
        "  affine.store %x, %A[%n, %n] : memref<?xf64>",
        [
            "3: error: a memref of rank 1 needs 1 subscripts, not 2",
            "  affine.store %x, %A[%n, %n] : memref<?xf64>",
            "  ^",
        ],
    ),
    "step 0": (
        "  affine.for %i = 0 to 9 step 0 { }",
        [
            "31: error: expected a positive 64-bit integer as step",
            "  affine.for %i = 0 to 9 step 0 { }",
            "                              ^",
        ],
    ),
    "negative step": (
        "  affine.parallel (%i) = (0) to (9) step (-1) { }",
        [
            "43: error: expected a positive 64-bit integer as step",
            "  affine.parallel (%i) = (0) to (9) step (-1) { }",
            "                                          ^",
        ],
    ),
    "step 0 in generic form": (
        '  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, step = 0 : index,'
        " upperBoundMap = affine_map<() -> (9)>,"
        " operandSegmentSizes = array<i32: 0, 0, 0>}> ({ ^bb0(%i: index): "
        '"affine.yield"() : () -> () }) : () -> ()',
        ["3: error: the step must be positive", None, "  ^"],
    ),
    "generic form without bounds": (
        '  "affine.for"() ({ ^bb0(%i: index): "affine.yield"() : () -> () })'
        " {lower_bound = affine_map<() -> (0)>, step = 1 : index} : () -> ()",
        [
            "3: error: 'affine.for' has no 'lowerBoundMap' and 'upperBoundMap' and "
            "'operandSegmentSizes'",
            None,
            "  ^",
            'hint: in generic form, write "affine.for"(...) <{lowerBoundMap = ..., '
            "upperBoundMap = ..., step = ..., operandSegmentSizes = ...}>",
        ],
    ),
    "generic form without numbers of operands": (
        '  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, step = 1 : index,'
        " upperBoundMap = affine_map<() -> (9)>}> ({ ^bb0(%i: index): "
        '"affine.yield"() : () -> () }) : () -> ()',
        [
            "3: error: 'affine.for' has no 'operandSegmentSizes'",
            None,
            "  ^",
            'hint: in generic form, write "affine.for"(...) <{lowerBoundMap = ..., '
            "upperBoundMap = ..., step = ..., operandSegmentSizes = ...}>",
        ],
    ),
    "generic load without a map": (
        '  %0 = "affine.load"(%A, %n) : (memref<?xf64>, index) -> f64',
        [
            "8: error: 'affine.load' has no 'map'",
            None,
            "       ^",
            'hint: in generic form, write "affine.load"(...) <{map = ...}>',
        ],
    ),
    "several bounds without max": (
        "  affine.for %i = affine_map<(d0) -> (d0, 1)>(%n) to 9 { }",
        [
            "19: error: a bound with several results needs 'max' before it",
            "  affine.for %i = affine_map<(d0) -> (d0, 1)>(%n) to 9 { }",
            "                  ^",
        ],
    ),
    "number of dimensions": (
        "  affine.for %i = 0 to affine_map<(d0) -> (d0)>(%n, %n) { }",
        [
            "48: error: expected 1 dimensions, but got 2",
            "  affine.for %i = 0 to affine_map<(d0) -> (d0)>(%n, %n) { }",
            "                                               ^",
        ],
    ),
    "missing yield": (
        "  %0 = affine.for %i = 0 to 9 iter_args(%a = %x) -> (f64) { }",
        [
            "8: error: 'affine.for' has results of types (f64), but () is yielded",
            "  %0 = affine.for %i = 0 to 9 iter_args(%a = %x) -> (f64) { }",
            "       ^",
        ],
    ),
    "missing else": (
        "  %0 = affine.if affine_set<() : ()>() -> f64 { affine.yield %x : f64 }",
        [
            "8: error: 'affine.if' with results needs an 'else'",
            "  %0 = affine.if affine_set<() : ()>() -> f64 { affine.yield %x : f64 }",
            "       ^",
        ],
    ),
    "unknown reduction": (
        '  %0 = affine.parallel (%i) = (0) to (9) reduce ("sum") -> (f64) { }',
        [
            "50: error: unknown reduction 'sum'",
            '  %0 = affine.parallel (%i) = (0) to (9) reduce ("sum") -> (f64) { }',
            "                                                 ^",
        ],
    ),
    "bounds per induction variable": (
        "  affine.parallel (%i, %j) = (0) to (9, 9) { }",
        [
            "19: error: expected as many lower bounds, upper bounds and steps as induction "
            "variables",
            "  affine.parallel (%i, %j) = (0) to (9, 9) { }",
            "                  ^",
        ],
    ),
    "call of nothing": (
        "  func.call @g() : () -> ()",
        [
            "3: error: there is no function '@g' in this module",
            "  func.call @g() : () -> ()",
            "  ^",
            "hint: define it, with a body",
        ],
    ),
    "string that is not closed": (
        f'  func.call @"{"g" * 200} : () -> ()',
        ["14: error: end of file reached before closing string literal", None, " " * 13 + "^"],
    ),
    "constant too large": (
        "  %0 = arith.constant dense<0.0> : vector<4294967296xf64>",
        [
            "36: error: dense constant has too many elements",
            "  %0 = arith.constant dense<0.0> : vector<4294967296xf64>",
            "                                   ^",
        ],
    ),
    "index too large": (
        "  %0 = arith.constant 9223372036854775808 : index",
        [
            "8: error: 9223372036854775808 does not fit into 64 bits",
            "  %0 = arith.constant 9223372036854775808 : index",
            "       ^",
        ],
    ),
    "no short syntax": (
        "  memref.dma_wait %A[%n], %n : memref<?xf64>",
        [
            "3: error: 'memref.dma_wait' has no short syntax here",
            "  memref.dma_wait %A[%n], %n : memref<?xf64>",
            "  ^",
            'hint: write it as "memref.dma_wait"(...) : (...)',
        ],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    body, expected = MISTAKES[name]
    text = f"func.func @f(%A: memref<?xf64>, %n: index, %x: f64) {{\n{body}\n  return\n}}\n"
    with pytest.raises(SourceError) as raised:
        parse_module(text, "f.mlir")
    lines = [body if line is None else line for line in expected]
    lines[0] = f"f.mlir:2:{lines[0]}"
    assert str(raised.value) == "\n".join(line for line in lines if line is not None)


WHOLE_TEXTS = {
    'func.func @"a\\1B[2Jb"() {\n  return\n}': (
        1,
        1,
        "the name 'a\\x1b[2Jb' has characters that are not printable",
    ),
    'func.func @"a\\0Ab"() {\n  return\n}': (
        1,
        1,
        "the name 'a\\nb' has characters that are not printable",
    ),
    "func.func @f() {\n  return\n": (3, 1, "expected an operation or '}'"),
    "func.func @f() { return }\nfunc.func @f() { return }": (2, 1, "'@f' is defined twice"),
    "func.func @f() { }": (1, 1, "'@f' has no body"),
    "module {\r\n  func.func @f( {\r\n}": (2, 17, "expected argument or type"),
    "]": (1, 1, "expected an operation"),
    "func.func @f() {\n  3\n}": (2, 3, "expected an operation or '}'"),
    "func.func @f() {\n  affine.for %i = 0 to 9 {\n": (3, 1, "expected an operation or '}'"),
    '"func.func"() <{sym_name = "f", function_type = () -> ()}> ({ ^bb0: }) : () -> ()': (
        1,
        1,
        "the region of 'func.func' ends without a terminator",
    ),
    "#set = affine_set<(i, i) : (i >= 0)>": (
        1,
        19,
        "two dimensions or symbols have the same name",
    ),
    "func.func @f() -> f64 { return }": (1, 25, None),
    "\n\n\x00": (3, 1, "unexpected character: \x00"),
    "func.func @f(%Ä: index) { return }": (
        1,
        14,
        "expected a name after this character: ASCII letters, digits, '_', '$', '.' or '-'",
    ),
}


@pytest.mark.parametrize("text", WHOLE_TEXTS)
def test_whole_text(text: str) -> None:
    line, column, message = WHOLE_TEXTS[text]
    with pytest.raises(SourceError) as raised:
        parse_module(text)
    location = raised.value.location
    assert location is not None
    assert (location.file, location.line, location.column) == ("<string>", line, column)
    if message is not None:
        assert raised.value.message == message


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"affine.for %i{n} = 0 to 9 {{\n" for n in range(3000)),
        f"func.func @f() attributes {{x = {'[' * 5000}",
        f"func.func @f(%a: {'tuple<' * 5000}",
        "module {" * 5000,
    ],
    ids=["loops", "attributes", "types", "modules"],
)
def test_nested_too_deeply(text: str) -> None:
    with pytest.raises(SourceError, match="nested too deeply"):
        parse_module(text)


@pytest.mark.parametrize("expression", ["%i + " * 5000 + "0", "(" * 5000 + "%i", "-" * 5000])
def test_long_expression(expression: str) -> None:
    text = f"func.func @f(%A: memref<?xf64>) {{\n  %0 = affine.load %A[{expression}]"
    with pytest.raises(SourceError, match="affine expression is too long"):
        parse_module(text)


def test_files(tmp_path: Path) -> None:
    def error(path: Path) -> str:
        with pytest.raises(SourceError) as raised:
            parse_file(path)
        return str(raised.value)

    missing = tmp_path / "missing.mlir"
    assert error(missing) == f"error: cannot read '{missing}': No such file or directory"
    assert error(tmp_path) == f"error: cannot read '{tmp_path}': Is a directory"
    binary = tmp_path / "binary.mlir"
    binary.write_bytes(b"func.func @f() { return }\xff\xfe")
    assert error(binary) == f"error: cannot read '{binary}': it is not UTF-8 text"
    wrong = tmp_path / "wrong.mlir"
    wrong.write_text("\ufeff\n  nothing.known\n", encoding="utf-8")
    assert error(wrong).startswith(f"{wrong}:2:3: error: unknown operation 'nothing.known'\n")


def test_empty_file(tmp_path: Path) -> None:
    empty = tmp_path / "empty.mlir"
    empty.write_text("", encoding="utf-8")
    assert not parse_file(empty).ops
