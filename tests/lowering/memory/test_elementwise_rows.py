"""Rows of few elements in the order of memory: the results, and what is still shuffled."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import loopwright
from loopwright.lowering.generate import generate
from loopwright.runtime.program import Function

TYPES = {"f32": np.float32, "f64": np.float64, "i16": np.int16, "i32": np.int32, "i8": np.int8}
ADD = {"f32": "addf", "f64": "addf", "i16": "addi", "i32": "addi", "i8": "addi"}
MULTIPLY = {"f32": "mulf", "f64": "mulf", "i16": "muli", "i32": "muli", "i8": "muli"}

LEAVES = {
    "element": "affine.load %A[%i, %c] : memref<{rows}x{width}x{kind}>",
    "updated": "affine.load %B[%i, %c] : memref<{rows}x{width}x{kind}>",
    "of the row": "affine.load %R[%i] : memref<{rows}x{kind}>",
    "of the column": "affine.load %C[%c] : memref<{width}x{kind}>",
    "first column": "affine.load %A[%i, 0] : memref<{rows}x{width}x{kind}>",
    "everywhere": "affine.load %C[0] : memref<{width}x{kind}>",
    "backwards": "affine.load %A[%i, {last} - %c] : memref<{rows}x{width}x{kind}>",
}


def function_of(
    kind: str, rows: int, width: int, statements: list[list[tuple[str, str]]]
) -> Function:
    """Each statement combines leaves, and stores to B or D."""
    sizes = {"rows": rows, "width": width, "kind": kind, "last": width - 1}
    matrix = f"memref<{rows}x{width}x{kind}>"
    lines = [
        f"func.func @f(%A: {matrix}, %B: {matrix}, %D: {matrix}, %R: memref<{rows}x{kind}>,"
        f" %C: memref<{width}x{kind}>) {{",
        f"affine.for %i = 0 to {rows} {{ affine.for %c = 0 to {width} {{",
    ]
    for number, leaves in enumerate(statements):
        value = ""
        for place, (leaf, combine) in enumerate(leaves):
            name = f"%v{number}_{place}"
            lines.append(f"{name} = {LEAVES[leaf].format(**sizes)}")
            if value:
                lines.append(f"{name}s = arith.{combine} {value}, {name} : {kind}")
            value = f"{name}s" if value else name
        lines.append(f"affine.store {value}, %{'BD'[number]}[%i, %c] : {matrix}")
    return loopwright.load("\n".join([*lines, "}}", "return", "}"]))["f"]


def check(function: Function, kind: str, rows: int, width: int, lanes: int) -> str:
    """The loops with lanes along the rows; their results are those of the unscheduled program."""
    schedule = f"unroll{{loops=c}},vectorize{{loops=i width={lanes}}}"
    source = np.random.default_rng(rows * width)
    shapes = [(rows, width)] * 3 + [(rows,), (width,)]
    arrays = [(99 * source.standard_normal(shape)).astype(TYPES[kind]) for shape in shapes]
    for options in ({}, {"check_bounds": True}):
        wanted, found = ([array.copy() for array in arrays] for _ in range(2))
        function.compile("", **options)(*wanted)
        function.compile(schedule, **options)(*found)
        for mine, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(mine, other)
    return str(generate(function.schedule(schedule), {}))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("width", [2, 3, 4, 6])
def test_rows_in_place_take_no_shuffles_but_of_what_is_the_same_in_all(
    kind: str, width: int
) -> None:
    """`B[i][c] = B[i][c] + A[i][c] * C[0]`, and with `C[c]`."""
    first = [("element", ""), ("everywhere", MULTIPLY[kind]), ("updated", ADD[kind])]
    loops = check(function_of(kind, 64, width, [first]), kind, 64, width, 16)
    assert "vector.shuffle" not in loops
    assert f"[0, {width}, {2 * width}" not in loops
    second = [("updated", ""), ("of the column", ADD[kind])]
    loops = check(function_of(kind, 64, width, [second]), kind, 64, width, 16)
    assert f"[0, {width}, {2 * width}" not in loops


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("one", ["of the column", "of the row", "everywhere", "backwards"])
@pytest.mark.parametrize("other", ["of the column", "first column", "everywhere", "element"])
def test_what_is_fused_stays_fused(kind: str, one: str, other: str) -> None:
    """`B[i][c] = one * other + B[i][c]` rounds once."""
    statement = [(one, ""), (other, "mulf"), ("updated", "addf")]
    check(function_of(kind, 37, 3, [statement]), kind, 37, 3, 16)


def test_columns_in_another_order_are_moved_as_columns() -> None:
    function = function_of("f32", 64, 3, [[("backwards", ""), ("of the column", "addf")]])
    assert "vector.scatter" in check(function, "f32", 64, 3, 16)


@pytest.mark.parametrize("seed", range(40))
def test_random_rows(seed: int) -> None:
    source = Random(seed)
    kind = source.choice([*TYPES])
    width, rows = source.choice([2, 3, 3, 4, 5, 6, 8]), source.choice([1, 7, 16, 37, 64])
    statements = [
        [
            (source.choice([*LEAVES]), source.choice([ADD[kind], MULTIPLY[kind]]))
            for _ in range(source.randint(1, 4))
        ]
        for _ in range(source.choice([1, 1, 2]))
    ]
    function = function_of(kind, rows, width, statements)
    check(function, kind, rows, width, source.choice([4, 8, 16]))


def columns_in_any_order(source: Random, kind: str, rows: int, width: int) -> str:
    """Loads and stores of single columns, and whole rows column by column, each stored at once."""
    matrix = f"memref<{rows}x{width}x{kind}>"
    lines: list[str] = []
    values = [f"%v{number}" for number in range(3)]
    for value in values:
        column = source.randrange(width)
        lines.append(f"{value} = affine.load %{source.choice('AB')}[%i, {column}] : {matrix}")
    for array in "AB":
        for column in source.choices(range(width), k=source.randint(0, 3)):
            value = source.choice(values)
            lines.append(f"affine.store {value}, %{array}[%i, {column}] : {matrix}")
        order = source.sample(range(width), width)
        loaded = source.choice([order, [order[0]] * width])
        combine = source.choice([None, ADD[kind], MULTIPLY[kind]])
        for column, other in zip(order, loaded, strict=True):
            value = f"%{array}{column}"
            lines.append(f"{value} = affine.load %A[%i, {other}] : {matrix}")
            if combine is not None:
                factor = source.choice([value, f"%{array}{order[0]}", *values])
                lines.append(f"{value}c = arith.{combine} {value}, {factor} : {kind}")
                value = f"{value}c"
            lines.append(f"affine.store {value}, %B[%i, {column}] : {matrix}")
            if source.random() < 0.4:
                lines.append(f"affine.store {source.choice(values)}, %A[%i, {column}] : {matrix}")
    body = "\n".join(lines)
    return (
        f"func.func @f(%A: {matrix}, %B: {matrix}) {{ affine.for %i = 0 to {rows} {{\n{body}\n}}"
        " return }"
    )


@pytest.mark.parametrize("seed", range(40))
def test_random_columns_in_place(seed: int) -> None:
    """Descending columns, one column twice, and stores that stand between the loads of a row."""
    source = Random(seed)
    kind, rows, width = source.choice([*TYPES]), 40, source.choice([2, 3, 4])
    function = loopwright.load(columns_in_any_order(source, kind, rows, width))["f"]
    shape = rows, width
    values = np.random.default_rng(seed)
    arrays = [(50 * values.standard_normal(shape)).astype(TYPES[kind]) for _ in "AB"]
    wanted, found = ([array.copy() for array in arrays] for _ in range(2))
    function.compile("")(*wanted)
    function.compile("vectorize{loops=i width=8}")(*found)
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_an_operand_that_is_there_twice_in_one_column_alone() -> None:
    """`B[i][0] = A[i][0] * A[i][0]`, and `B[i][1] = A[i][1] * A[i][0]`."""
    matrix = "memref<37x2xi32>"
    function = loopwright.load(
        f"""func.func @f(%A: {matrix}, %B: {matrix}, %D: {matrix}, %R: memref<37xi32>,
                         %C: memref<2xi32>) {{
          affine.for %i = 0 to 37 {{
            affine.for %c = 0 to 1 {{
              %0 = affine.load %A[%i, 0] : {matrix}
              %1 = affine.load %A[%i, 1] : {matrix}
              %2 = arith.muli %0, %0 : i32
              %3 = arith.muli %1, %0 : i32
              affine.store %2, %B[%i, 0] : {matrix}
              affine.store %3, %B[%i, 1] : {matrix}
            }}
          }}
          return
        }}"""
    )["f"]
    check(function, "i32", 37, 2, 4)
