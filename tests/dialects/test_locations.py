"""Operations and values know where they were written."""

from __future__ import annotations

import gc

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from loopwright.dialects.errors import SourceError
from loopwright.dialects.locations import locate, name_of
from loopwright.dialects.parse import parse_module

TEXT = """\
func.func @f(%A: memref<?xf64>,
             %n: index, %k: i32) {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    %y, %z = "arith.addui_extended"(%k, %k) : (i32, i32) -> (i32, i1)
  } loc("elsewhere.c":7:8)
  return
}
"""


def _find(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def test_operations_start_at_their_name() -> None:
    module = parse_module(TEXT, "f.mlir")
    places = [f"{op.name} {locate(op)}" for op in module.walk()]
    assert places == [
        "builtin.module None",
        "func.func f.mlir:1:1",
        "affine.for f.mlir:3:3",
        "affine.load f.mlir:4:10",
        "arith.addui_extended f.mlir:5:14",
        # What the parser adds is where the operation is that it is part of.
        "affine.yield f.mlir:3:3",
        "func.return f.mlir:7:3",
    ]


def test_values() -> None:
    module = parse_module(TEXT, "f.mlir")
    function = _find(module, "func.func")
    loop = _find(module, "affine.for")
    load = _find(module, "affine.load")
    assert isinstance(function, func.FuncOp)
    values = [*function.body.block.args, *loop.regions[0].block.args, *load.results]
    assert [f"{name_of(value)} {locate(value)}" for value in values] == [
        "%A f.mlir:1:14",
        "%n f.mlir:2:14",
        "%k f.mlir:2:25",
        "%i f.mlir:3:14",
        "%0 f.mlir:4:10",
    ]


def test_copies_keep_their_place() -> None:
    copy = parse_module(TEXT, "f.mlir").clone()
    gc.collect()
    error = SourceError.at(_find(copy, "affine.load"), "no", "try again")
    assert str(error) == (
        "f.mlir:4:10: error: no\n"
        "    %0 = affine.load %A[%i] : memref<?xf64>\n"
        "         ^\n"
        "hint: try again"
    )


def test_operand() -> None:
    module = parse_module(TEXT, "f.mlir")
    load = _find(module, "affine.load")
    error = SourceError.at(load, "no", operand=load.operands[1])
    assert str(error.location) == "f.mlir:4:25"
    function = _find(module, "func.func")
    # A value that the line does not name leaves the error at the operation.
    assert SourceError.at(function, "no", operand=load.results[0]).location == locate(function)


def test_texts_of_one_name_are_kept_apart() -> None:
    first = parse_module("func.func @a() { return }", "f.mlir")
    second = parse_module("module {}\n// nothing\nfunc.func @b() { return }", "f.mlir")
    texts = [locate(_find(module, "func.func")) for module in (first, second)]
    assert [text and (text.line, text.text) for text in texts] == [
        (1, "func.func @a() { return }"),
        (3, "func.func @b() { return }"),
    ]


def test_new_operations_are_where_their_parent_is() -> None:
    module = parse_module(TEXT, "f.mlir")
    loop = _find(module, "affine.for")
    new = _find(module, "affine.load").clone()
    new.location = func.ReturnOp().location
    assert locate(new) is None
    assert str(SourceError.at(new, "no")) == "error: no"
    loop.regions[0].block.insert_op_before(new, _find(module, "affine.load"))
    assert str(locate(new)) == "f.mlir:3:3"
