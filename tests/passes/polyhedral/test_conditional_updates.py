"""Updates under conditions become updates by a value that may be neutral, with the same bits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.polyhedral_programs import scop_of
from xdsl.dialects import arith

import loopwright

SPECIAL = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e308, 5e-324]

PROGRAM = """
func.func @f(%n: index, %c: memref<?xi32>, %x: memref<?x{kind}>, %s: memref<{kind}>) {{
  %zero = arith.constant 0 : i32
  affine.for %i = 0 to %n {{
    %k = affine.load %c[%i] : memref<?xi32>
    %holds = arith.cmpi ne, %k, %zero : i32
    %v = affine.load %x[%i] : memref<?x{kind}>
    %old = affine.load %s[] : memref<{kind}>
    %new = arith.{operation} {operands} : {kind}
    %other = affine.load %s[] : memref<{kind}>
    %chosen = arith.select %holds, {values} : {kind}
    affine.store %chosen, %s[] : memref<{kind}>
  }}
  return
}}
"""
FLOATS = ("addf", "subf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")
INTEGERS = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
ORDERS = list(itertools.product(("%old, %v", "%v, %old"), ("%new, %other", "%other, %new")))


def program(operation: str, operands: str, values: str) -> str:
    kind = "f64" if operation in FLOATS else "i32"
    return PROGRAM.format(operation=operation, operands=operands, values=values, kind=kind)


def is_unconditional(text: str) -> bool:
    """Whether what is stored is the operation itself."""
    (statement,) = scop_of(text).statements
    return not isinstance(statement.body[-1].operands[0].owner, arith.SelectOp)


@pytest.mark.parametrize("operation", (*FLOATS, *INTEGERS))
@pytest.mark.parametrize(("operands", "values"), ORDERS)
def test_same_bits(operation: str, operands: str, values: str) -> None:
    text = program(operation, operands, values)
    is_reversed = operation.startswith("sub") and operands == "%v, %old"
    assert is_unconditional(text) != is_reversed
    function = loopwright.load(text)["f"]
    numbers = SPECIAL if operation in FLOATS else [0, 1, -1, 7, 2**31 - 1, -(2**31)]
    kind = "f8" if operation in FLOATS else "i4"
    plain = loopwright.load(without_condition(text))["f"].compile(None)
    for start, value, holds in itertools.product(numbers, numbers, (0, 1)):
        if operation in ("maxnumf", "minnumf") and start == value == 0:
            continue  # either zero may be given
        expected, x = np.array(start, kind), np.array([value], kind)
        if holds == values.startswith("%new"):
            plain(1, np.ones(1, "i4"), x, expected)
        for schedule in (None, ""):
            s = np.array(start, kind)
            function.compile(schedule)(1, np.full(1, holds, "i4"), x, s)
            if not (np.isnan(s) and np.isnan(expected)):
                assert s.tobytes() == expected.tobytes(), (start, value, holds)


def without_condition(text: str) -> str:
    return text.replace("cmpi ne, %k, %zero", "cmpi eq, %k, %k").replace(
        "affine.store %chosen", "affine.store %new"
    )


def test_long_sums_under_conditions() -> None:
    random = np.random.default_rng(5)
    x, c = random.random(1001), random.integers(0, 2, 1001).astype("i4")
    function = loopwright.load(program("addf", "%old, %v", "%new, %other"))["f"]
    expected = 0.25
    for value in x[c != 0]:
        expected += value
    for schedule in (None, "", "default"):
        s = np.array(0.25)
        function.compile(schedule, threads=2)(1001, c, x, s)
        assert s == expected
    s = np.array(0.25)
    function.compile("default", threads=2, fast_math=True)(1001, c, x, s)
    np.testing.assert_allclose(s, expected, rtol=1e-13)


BETWEEN = "affine.store %v, %s[] : memref<f64>\n    %other"
ELSEWHERE = [
    ("%other = affine.load %s[]", f"{BETWEEN} = affine.load %s[]"),
    ("%other = affine.load %s[] : memref<f64>", "%other = affine.load %x[0] : memref<?xf64>"),
    ("affine.store %chosen, %s[] : memref<f64>", "affine.store %chosen, %x[%i] : memref<?xf64>"),
    ("affine.store %chosen", "affine.store %new, %x[%i] : memref<?xf64>\n affine.store %chosen"),
]


@pytest.mark.parametrize(("old", "new"), ELSEWHERE)
def test_other_values_are_left_alone(old: str, new: str) -> None:
    text = program("addf", "%old, %v", "%new, %other")
    assert old in text
    changed = text.replace(old, new)
    statement = scop_of(changed).statements[-1]
    selects = [op for op in statement.body if isinstance(op, arith.SelectOp)]
    assert selects and statement.body[-1].operands[0].owner is selects[-1]
