"""The reference interpreter itself, on programs whose results are known."""

from __future__ import annotations

import numpy as np
import pytest
from support import arithmetic
from support.arithmetic import UndefinedBehaviourError
from support.interpreter import Interpreter, OutOfBoundsError, TraceEntry

import loopwright
from loopwright.dialects.parse import parse_module

PREFIX_SUM = """
func.func @f(%n: index, %A: memref<?xi32>) -> i32 {
  %zero = arith.constant 0 : i32
  %total = affine.for %i = 0 to %n iter_args(%sum = %zero) -> (i32) {
    %x = affine.load %A[%i] : memref<?xi32>
    %next = arith.addi %sum, %x : i32
    affine.store %next, %A[%i] : memref<?xi32>
    affine.yield %next : i32
  }
  return %total : i32
}
"""


def binary(operation: str, kind: str, *values: object) -> object:
    """The result of one operation on scalar arguments."""
    names = [f"%x{number}" for number in range(len(values))]
    formal = ", ".join(f"{name}: {kind}" for name in names)
    text = (
        f"func.func @f({formal}) -> {kind} {{\n"
        f"  %r = {operation} {', '.join(names)} : {kind}\n"
        f"  return %r : {kind}\n}}\n"
    )
    return Interpreter(parse_module(text)).run("f", *values)[0]


def test_runs_in_program_order() -> None:
    array = np.array([1, 2, 3, 4], np.int32)
    assert Interpreter(parse_module(PREFIX_SUM)).run("f", 4, array) == (10,)
    assert array.tolist() == [1, 3, 6, 10]


def test_records_accesses_in_order() -> None:
    trace: list[TraceEntry] = []
    Interpreter(parse_module(PREFIX_SUM), trace).run("f", 2, np.zeros(2, np.int32))
    found = [(entry.iteration, entry.subscripts, entry.is_write) for entry in trace]
    assert found == [
        ((0,), (0,), False),
        ((0,), (0,), True),
        ((1,), (1,), False),
        ((1,), (1,), True),
    ]


def test_refuses_an_access_outside_of_an_array() -> None:
    with pytest.raises(OutOfBoundsError, match=r"\[3\] of an array of shape \(3,\)"):
        Interpreter(parse_module(PREFIX_SUM)).run("f", 4, np.zeros(3, np.int32))


@pytest.mark.parametrize(
    ("operation", "kind", "values", "expected"),
    [
        ("arith.addi", "i32", (2**31 - 1, 1), -(2**31)),
        ("arith.muli", "i64", (2**62, 2), -(2**63)),
        ("arith.divsi", "i32", (-7, 2), -3),
        ("arith.floordivsi", "i32", (-7, 2), -4),
        ("arith.ceildivsi", "i32", (7, 2), 4),
        ("arith.remsi", "i32", (-7, 2), -1),
        ("arith.divui", "i32", (-1, 2), 2**31 - 1),
        ("arith.shrui", "i32", (-1, 28), 15),
        ("arith.shrsi", "i32", (-16, 2), -4),
        ("arith.maxui", "i32", (-1, 1), -1),
        ("arith.addf", "f32", (16777216.0, 1.0), np.float32(16777216.0)),
        ("arith.addf", "f64", (16777216.0, 1.0), 16777217.0),
        ("arith.maxnumf", "f64", (float("nan"), 1.0), 1.0),
    ],
)
def test_scalar_operations(
    operation: str, kind: str, values: tuple[float, ...], expected: object
) -> None:
    assert binary(operation, kind, *values) == expected


def test_refuses_a_division_by_zero() -> None:
    with pytest.raises(UndefinedBehaviourError, match="division by zero"):
        binary("arith.divsi", "i32", 1, 0)


def test_refuses_to_read_what_was_never_written() -> None:
    text = """
    func.func @f() -> f32 {
      %A = memref.alloc() : memref<3xf32>
      %x = affine.load %A[1] : memref<3xf32>
      return %x : f32
    }
    """
    with pytest.raises(UndefinedBehaviourError, match="before a store"):
        Interpreter(parse_module(text)).run("f")


NEAREST = [
    (1 + 2**-8, 1.0),
    (1 + 3 * 2**-8, 1 + 2**-6),
    (1 + 2**-8 + 2**-40, 1 + 2**-7),
    (2.0**-133, 2.0**-133),
    (2.0**-134, 0.0),
    (3 * 2.0**-134, 2.0**-132),
    (float.fromhex("0x1.fefp127"), float.fromhex("0x1.fep127")),
    (float.fromhex("0x1.ffp127"), float("inf")),
]


@pytest.mark.parametrize(("number", "nearest"), NEAREST)
def test_rounds_once_to_bf16(number: float, nearest: float) -> None:
    for sign in (1, -1):
        assert arithmetic.bfloat16(np.float64(sign * number)) == sign * nearest


@pytest.mark.parametrize(("kind", "last"), [("f16", 2048.0), ("bf16", 256.0)])
def test_narrow_floats_are_rounded_after_each_operation(kind: str, last: float) -> None:
    """Counting ends where the next number is 2 away; that is exact for wide floats alone."""
    text = f"""
    func.func @f(%A: memref<{kind}>) {{
      %one = arith.constant 1.0 : {kind}
      affine.for %i = 0 to 3000 {{
        %x = affine.load %A[] : memref<{kind}>
        %y = arith.addf %x, %one : {kind}
        affine.store %y, %A[] : memref<{kind}>
      }}
      return
    }}
    """
    interpreter = Interpreter(parse_module(text))
    array = np.zeros((), {"f16": np.dtype("f2"), "bf16": arithmetic.BFLOAT16}[kind])
    interpreter.run("f", array)
    assert arithmetic.numbers(array) == last
    assert interpreter.exact and not interpreter.any_order


@pytest.mark.parametrize("t", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("kind", ["addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"])
def test_reductions_of_nothing(kind: str, t: str) -> None:
    """The neutral element: for `maxnumf` and `minnumf`, which pass over NaN, NaN as in MLIR."""
    text = f"""
    func.func @f(%x: {t}) -> {t} {{
      %r = affine.parallel (%i) = (0) to (0) reduce ("{kind}") -> ({t}) {{
        affine.yield %x : {t}
      }}
      return %r : {t}
    }}
    """
    neutral = {"addf": 0.0, "mulf": 1.0, "maximumf": -np.inf, "minimumf": np.inf}
    (found,) = Interpreter(parse_module(text)).run("f", 3.0)
    compiled = loopwright.load(text)["f"].compile()(3.0)
    for value in (found, compiled):
        assert np.array_equal(value, neutral.get(kind, np.nan), equal_nan=True)
