"""Scatters of neighbouring columns become row stores, and leave what the scatters would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES, MachineCode

from loopwright.passes.machine.target import Target

PITCH = 24
ROWS = 34


def scattered(
    kind: str,
    lanes: int,
    columns: Sequence[int],
    *,
    pitch: int = PITCH,
    mask: str = "dense<true>",
    between: str = "",
    after: int = 0,
) -> MachineCode:
    """Scatters row n of B to column `columns[n]` (after %at) of the first rows of A.

    What is `between` runs after scatter number `after`.
    """
    offsets = [pitch * lane for lane in range(lanes)]
    vector, memref = f"vector<{lanes}x{kind}>", f"memref<{ROWS}x{PITCH}x{kind}>"
    lines = [
        f"func.func @f(%at: index, %A: {memref}, %B: memref<32x{lanes}x{kind}>) {{",
        "%c0 = arith.constant 0 : index",
        f"%offsets = arith.constant dense<{offsets}> : vector<{lanes}xindex>",
        f"%mask = arith.constant {mask} : vector<{lanes}xi1>",
    ]
    for number, column in enumerate(columns):
        lines += [
            f"%p{number} = affine.apply affine_map<(d0) -> (d0 + {column})>(%at)",
            f"%v{number} = affine.vector_load %B[{number}, 0]"
            f" : memref<32x{lanes}x{kind}>, {vector}",
            f"vector.scatter %A[%c0, %p{number}] [%offsets], %mask, %v{number}"
            f" : {memref}, vector<{lanes}xindex>, vector<{lanes}xi1>, {vector}",
        ]
        if number == after:
            lines.append(between)
    return MachineCode("\n".join([*lines, "return", "}"]))


def arrays(kind: str, lanes: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    element = NUMPY_TYPES[kind]
    b = np.arange(1, 32 * lanes + 1).reshape(32, lanes).astype(element)
    return np.zeros((ROWS, PITCH), element), b


def expected(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], columns: Sequence[int], at: int, pitch: int
) -> np.ndarray[Any, Any]:
    """One element after the other, as scatters store them."""
    result = a.copy()
    flat = result.reshape(-1)
    for number, column in enumerate(columns):
        for lane in range(b.shape[1]):
            flat[pitch * lane + at + column] = b[number, lane]
    return result


KINDS = [
    ("f64", 4),
    ("f64", 8),
    ("f64", 16),
    ("f64", 32),
    ("f32", 8),
    ("f32", 16),
    ("f32", 32),
    ("i32", 8),
    ("i16", 16),
    ("i8", 16),
]


@pytest.mark.parametrize(("kind", "lanes"), KINDS)
@pytest.mark.parametrize("count", [3, 8, 16, 19])
@pytest.mark.parametrize("is_backwards", [False, True])
def test_columns_of_rows(kind: str, lanes: int, count: int, is_backwards: bool) -> None:
    columns = range(count)[::-1] if is_backwards else range(count)
    code = scattered(kind, lanes, columns)
    a, b = arrays(kind, lanes)
    wanted = expected(a, b, columns, 3, PITCH)
    code("f", 3, a, b)
    np.testing.assert_array_equal(a, wanted)
    # Vectors of more than four registers stay as they are.
    fits = lanes * a.itemsize <= Target.host().vector_bits // 2
    assert count % 16 or not fits or "masked.scatter" not in code.llvm_ir


def test_columns_in_any_order() -> None:
    columns = [5, 3, 4, 6, 0, 2, 1, 7, 12]
    code = scattered("f64", 8, columns)
    a, b = arrays("f64", 8)
    wanted = expected(a, b, columns, 2, PITCH)
    code("f", 2, a, b)
    np.testing.assert_array_equal(a, wanted)


def test_a_column_that_is_stored_twice_keeps_the_last_values() -> None:
    columns = [0, 1, 2, 3, 1, 4, 5, 6, 7, 0, 2, 3]
    code = scattered("f64", 8, columns)
    a, b = arrays("f64", 8)
    wanted = expected(a, b, columns, 1, PITCH)
    code("f", 1, a, b)
    np.testing.assert_array_equal(a, wanted)


@pytest.mark.parametrize("pitch", [1, 3, 7])
def test_rows_that_overlap_are_stored_in_their_order(pitch: int) -> None:
    columns = range(8)
    code = scattered("f64", 8, columns, pitch=pitch)
    a, b = arrays("f64", 8)
    wanted = expected(a, b, columns, 0, pitch)
    code("f", 0, a, b)
    np.testing.assert_array_equal(a, wanted)


@pytest.mark.parametrize("lanes", [8, 16])
def test_rows_of_lanes_that_are_off_are_left_alone(lanes: int) -> None:
    is_on = [lane % 3 != 1 for lane in range(lanes)]
    mask = f"dense<[{', '.join(str(each).lower() for each in is_on)}]>"
    code = scattered("f64", lanes, range(8), mask=mask)
    a, b = arrays("f64", lanes)
    wanted = expected(a, b, range(8), 0, PITCH)
    wanted[:lanes][~np.array(is_on)] = 0
    code("f", 0, a, b)
    np.testing.assert_array_equal(a, wanted)
    assert "masked.scatter" not in code.llvm_ir


MEMREF = f"memref<{ROWS}x{PITCH}xf64>"
BETWEEN = {
    "a store": f"%one = arith.constant 77.0 : f64\naffine.store %one, %A[1, 2] : {MEMREF}",
    "a load": f"%x = affine.load %A[1, 2] : {MEMREF}\naffine.store %x, %A[20, 0] : {MEMREF}",
    "a loop": f"""affine.for %i = 0 to 2 {{
        %x = affine.load %A[%i, 2] : {MEMREF}
        affine.store %x, %A[%i + 20, 0] : {MEMREF}
      }}""",
}


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.parametrize("after", [0, 2, 7])
def test_accesses_in_between_see_what_was_stored_before(name: str, after: int) -> None:
    code = scattered("f64", 8, range(8), between=BETWEEN[name], after=after)
    a, b = arrays("f64", 8)
    first = expected(a, b, range(after + 1), 0, PITCH)
    if name == "a store":
        first[1, 2] = 77
    elif name == "a load":
        first[20, 0] = first[1, 2]
    else:
        first[20:22, 0] = first[:2, 2]
    wanted = first.copy()
    wanted[:8, after + 1 : 8] = b[after + 1 : 8].T
    code("f", 0, a, b)
    np.testing.assert_array_equal(a, wanted)
