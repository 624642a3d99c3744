"""Narrowed integer arithmetic gives the same bits, in the types that it is expected in."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from support.arithmetic import dtype
from support.interpreter import Interpreter
from xdsl.dialects.builtin import IntegerType, ModuleOp

import loopwright
from loopwright.dialects.parse import parse_module
from loopwright.lowering.loops.narrow_arithmetic import narrow_arithmetic

EDGES = {
    8: (0, 1, 2, 100, 127, -1, -2, -127, -128),
    16: (0, 1, 255, 256, 32767, 32766, -1, -128, -129, -255, -256, -32768, -32767),
}
SIZE = 16
TYPES = (8, 8, 8, 16)
OPERATIONS = (
    *("addi", "addi", "subi", "subi", "muli", "muli", "minsi", "maxsi", "minui", "maxui"),
    *("andi", "ori", "xori", "shli", "shrsi", "shrsi", "shrui", "divui", "remui", "divsi", "cmpi"),
    *("absi",),
)
CONSTANTS = (0, 1, -1, 2, 3, 5, 77, 127, 128, -128, 150, 255, 256, -255, 300, 32767, -32768, 65535)
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge")


def random_program(seed: int) -> str:
    """Loads of bytes and shorts, a random expression in 32 or 64 bits, and what is stored of it."""
    rng = random.Random(seed)
    bits = rng.choice((32, 32, 32, 64))
    widths = [rng.choice(TYPES) for _ in range(4)]
    lines, values = list[str](), list[str]()
    for number, width in enumerate(widths):
        lines.append(f"%x{number} = affine.load %a{number}[%i] : memref<{SIZE}xi{width}>")
        extension = rng.choice(("extsi", "extui"))
        lines.append(f"%v{number} = arith.{extension} %x{number} : i{width} to i{bits}")
        values.append(f"%v{number}")
    for number in range(rng.randint(3, 12)):
        name, kind = rng.choice(OPERATIONS), f"i{bits}"
        left, right = rng.choice(values[-5:]), rng.choice(values[-5:])
        result = f"%r{number}"
        if name in ("shli", "shrsi", "shrui"):
            lines.append(f"%c{number} = arith.constant {rng.randint(0, 12)} : {kind}")
            right = f"%c{number}"
        elif name in ("divui", "remui", "divsi"):
            lines.append(f"%c{number} = arith.constant {rng.choice((3, 7, 9, 255))} : {kind}")
            right = f"%c{number}"
        elif rng.random() < 0.4:
            lines.append(f"%c{number} = arith.constant {rng.choice(CONSTANTS)} : {kind}")
            right = f"%c{number}"
        if name == "cmpi":
            condition = f"%b{number}"
            lines.append(
                f"{condition} = arith.cmpi {rng.choice(PREDICATES)}, {left}, {right} : {kind}"
            )
            lines.append(f"{result} = arith.select {condition}, {right}, {left} : {kind}")
        elif name == "absi":
            lines.append(f"{result} = math.absi {left} : {kind}")
        else:
            lines.append(f"{result} = arith.{name} {left}, {right} : {kind}")
        values.append(result)
    outputs = [rng.choice((8, 16, bits)) for _ in range(2)]
    for number, (width, value) in enumerate(
        zip(outputs, (values[-1], rng.choice(values)), strict=True)
    ):
        stored = value
        if width < bits:
            stored = f"%t{number}"
            lines.append(f"{stored} = arith.trunci {value} : i{bits} to i{width}")
        lines.append(f"affine.store {stored}, %o{number}[%i] : memref<{SIZE}xi{width}>")
    arguments = [f"%a{n}: memref<{SIZE}xi{width}>" for n, width in enumerate(widths)]
    arguments += [f"%o{n}: memref<{SIZE}xi{width}>" for n, width in enumerate(outputs)]
    body = "\n    ".join(lines)
    return (
        f"func.func @f({', '.join(arguments)}) {{\n  affine.for %i = 0 to {SIZE} {{\n    {body}\n"
        "  }\n  return\n}\n"
    )


def inputs(text: str, seed: int) -> list[np.ndarray]:
    rng = random.Random(seed)
    kinds = re.findall(rf"%([ao])\d: memref<{SIZE}xi(\d+)>", text)
    arrays = list[np.ndarray]()
    for role, width in kinds:
        edges = EDGES.get(int(width), (0,)) if role == "a" else (0,)
        values = [rng.choice(edges) for _ in range(SIZE)]
        arrays.append(np.array(values, dtype(IntegerType(int(width)))))
    return arrays


def narrowed(text: str) -> ModuleOp:
    module = parse_module(text)
    for function in module.ops:
        narrow_arithmetic(function)
    module.verify()
    return module


@pytest.mark.parametrize("first", range(0, 90, 30))
def test_random_expressions_keep_their_bits(first: int) -> None:
    changed = 0
    for seed in range(first, first + 30):
        text = random_program(seed)
        module = narrowed(text)
        changed += str(module) != str(parse_module(text))
        expected, found = inputs(text, seed), inputs(text, seed)
        Interpreter(parse_module(text)).run("f", *expected)
        Interpreter(module).run("f", *found)
        for one, other in zip(expected, found, strict=True):
            assert np.array_equal(one, other), f"seed {seed}\n{text}\n{module}"
    assert changed > 15


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("schedule", [None, "vectorize{loops=i width=16}"])
def test_compiled_expressions(seed: int, schedule: str | None) -> None:
    text = random_program(1000 + seed)
    expected, found = inputs(text, seed), inputs(text, seed)
    Interpreter(parse_module(text)).run("f", *expected)
    loopwright.load(text)["f"].compile(schedule)(*found)
    for one, other in zip(expected, found, strict=True):
        assert np.array_equal(one, other), text


HALVES = """
func.func @f(%a: memref<8x8xi8>, %b: memref<4x4xi8>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      %0 = affine.load %a[2 * %i, 2 * %j] : memref<8x8xi8>
      %1 = affine.load %a[2 * %i + 1, 2 * %j + 1] : memref<8x8xi8>
      %2 = arith.extui %0 : i8 to i32
      %3 = arith.extui %1 : i8 to i32
EXPRESSION
      affine.store %y, %b[%i, %j] : memref<4x4xi8>
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("%y = arith.addi %2, %3", "i8"),
        ("%y = arith.maxsi %2, %3", "i8"),
        ("%4 = arith.addi %2, %3\n%y = arith.shrsi %4, %c1", "i16"),
        ("%4 = arith.muli %2, %3\n%y = arith.shrsi %4, %c8", "i16"),
        ("%4 = arith.subi %2, %3\n%y = arith.maxsi %4, %c1", "i16"),
        ("%4 = arith.muli %2, %c150\n%5 = arith.addi %4, %3\n%y = arith.shrsi %5, %c8", "i16"),
        ("%4 = arith.muli %2, %c1000\n%y = arith.shrsi %4, %c8", "i16"),
        ("%4 = arith.muli %2, %c1000\n%y = arith.shrsi %4, %c16", "i32"),
        # x * a + y * (255 - a) stays below 255 * 255.
        (
            "%4 = arith.muli %2, %3\n%5 = arith.subi %c255, %3\n%6 = arith.muli %2, %5\n"
            "%7 = arith.addi %4, %6\n%8 = arith.addi %7, %c255\n%y = arith.divui %8, %c255",
            "i16",
        ),
    ],
)
def test_types_of_arithmetic(expression: str, kind: str) -> None:
    numbers = sorted(set(re.findall(r"%c(\d+)", expression)))
    constants = [f"%c{number} = arith.constant {number} : i32" for number in numbers]
    body = "\n".join(f"{line} : i32" for line in expression.split("\n"))
    body = body.replace("%y", "%wide") + "\n%y = arith.trunci %wide : i32 to i8"
    module = narrowed(HALVES.replace("EXPRESSION", "\n".join((*constants, body))))
    lines = [line.strip() for line in str(module).splitlines()]
    found = {
        line.rsplit(" ", 1)[1]
        for line in lines
        if re.search(r"arith\.(addi|subi|muli|shr|max|div)", line) and "%c255" not in line
    }
    assert kind in found and found <= {kind, "i8"}, str(module)
    assert all("to i32" not in line for line in lines) or kind == "i32"


def test_products_that_are_added_in_more_bits_stay_wide() -> None:
    text = """
func.func @f(%a: memref<64xi8>, %b: memref<64xi8>, %c: memref<1xi32>) {
  affine.for %i = 0 to 64 {
    %0 = affine.load %a[%i] : memref<64xi8>
    %1 = arith.extsi %0 : i8 to i32
    %2 = affine.load %b[%i] : memref<64xi8>
    %3 = arith.extsi %2 : i8 to i32
    %4 = arith.muli %1, %3 : i32
    %5 = affine.load %c[0] : memref<1xi32>
    %6 = arith.addi %5, %4 : i32
    affine.store %6, %c[0] : memref<1xi32>
  }
  return
}
"""
    assert str(narrowed(text)) == str(parse_module(text))


SUM = """
func.func @f(%s: KIND, %w: memref<64xi64>, %a: memref<64xi8>, %b: memref<64xi8>) {
  %0 = arith.EXTEND %s : KIND to i64
  affine.for %i = 0 to 64 {
    %1 = affine.load %a[%i] : memref<64xi8>
    %2 = arith.extui %1 : i8 to i64
    %3 = affine.load %w[0] : memref<64xi64>
    %4 = arith.addi %2, %0 : i64
    %5 = arith.OPERATION %4, %3 : i64
    %6 = arith.trunci %5 : i64 to i8
    affine.store %6, %b[%i] : memref<64xi8>
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["i8", "i16", "i32"])
@pytest.mark.parametrize("extend", ["extsi", "extui"])
@pytest.mark.parametrize("operation", ["addi", "muli", "xori"])
@pytest.mark.parametrize("schedule", [None, "", "vectorize{loops=i width=32}"])
def test_scalars_of_all_widths_are_cut(
    kind: str, extend: str, operation: str, schedule: str | None
) -> None:
    text = SUM.replace("KIND", kind).replace("EXTEND", extend).replace("OPERATION", operation)
    a, b = np.arange(64, dtype="u1") * 3, np.zeros(64, "u1")
    wide = np.full(64, 1234567, "i8")
    loopwright.load(text)["f"].compile(schedule)(-77, wide, a.view("i1"), b.view("i1"))
    scalar = -77 if extend == "extsi" else -77 % 2 ** int(kind[1:])
    sums = a.astype("i8") + scalar
    wanted = {"addi": sums + wide, "muli": sums * wide, "xori": sums ^ wide}[operation]
    np.testing.assert_array_equal(b, wanted.astype("u1"))
