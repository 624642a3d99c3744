"""The reference interpreter itself, on programs whose results are known."""

from __future__ import annotations

import numpy as np
import pytest
from support.arithmetic import UndefinedBehaviourError
from support.interpreter import Interpreter, OutOfBoundsError, TraceEntry

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
