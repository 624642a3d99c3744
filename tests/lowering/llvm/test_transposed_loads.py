"""Gathers of neighbouring columns become loads of rows, and give what the gathers would."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES, MachineCode

PITCH = 24
ROWS = 16


def copy_of_columns(
    kind: str, lanes: int, columns: list[int], mask: str = "dense<true>", between: str = ""
) -> MachineCode:
    """Gathers `columns` (after %at) of the first rows of A and stores each as a row of B."""
    offsets = [PITCH * lane for lane in range(lanes)]
    vector, memref = f"vector<{lanes}x{kind}>", f"memref<{ROWS}x{PITCH}x{kind}>"
    zero = "0.0" if kind.startswith("f") else "0"
    lines = [
        f"func.func @f(%at: index, %A: {memref}, %B: memref<32x{lanes}x{kind}>) {{",
        "%c0 = arith.constant 0 : index",
        f"%offsets = arith.constant dense<{offsets}> : vector<{lanes}xindex>",
        f"%mask = arith.constant {mask} : vector<{lanes}xi1>",
        f"%zero = arith.constant dense<{zero}> : {vector}",
    ]
    for number, column in enumerate(columns):
        lines += [
            f"%p{number} = affine.apply affine_map<(d0) -> (d0 + {column})>(%at)",
            f"%v{number} = vector.gather %A[%c0, %p{number}] [%offsets], %mask, %zero"
            f" : {memref}, vector<{lanes}xindex>, vector<{lanes}xi1>, {vector} into {vector}",
            f"affine.vector_store %v{number}, %B[{number}, 0]"
            f" : memref<32x{lanes}x{kind}>, {vector}",
            between,
        ]
    return MachineCode("\n".join([*lines, "return", "}"]))


def arrays(kind: str, lanes: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    a = np.arange(1, ROWS * PITCH + 1).reshape(ROWS, PITCH).astype(NUMPY_TYPES[kind])
    return a, np.zeros((32, lanes), NUMPY_TYPES[kind])


@pytest.mark.parametrize(
    ("kind", "lanes"),
    [
        ("f32", 16),
        ("f32", 8),
        ("f32", 4),
        ("f64", 8),
        ("f64", 4),
        ("i32", 8),
        ("i8", 16),
        ("i16", 16),
        ("i16", 8),
    ],
)
@pytest.mark.parametrize("count", [4, 7, 16, 19])
def test_columns_of_rows(kind: str, lanes: int, count: int) -> None:
    code = copy_of_columns(kind, lanes, list(range(count)))
    a, b = arrays(kind, lanes)
    code("f", 3, a, b)
    np.testing.assert_array_equal(b[:count], a[:lanes, 3 : 3 + count].T)
    # A few columns beyond a whole block may be gathered.
    assert count % lanes < lanes // 4 or "masked.gather" not in code.llvm_ir


def test_columns_in_any_order_and_some_of_them_twice() -> None:
    columns = [5, 3, 4, 6, 3, 0, 2, 1, 7, 12]
    code = copy_of_columns("f64", 8, columns)
    a, b = arrays("f64", 8)
    code("f", 2, a, b)
    np.testing.assert_array_equal(b[: len(columns)], a[:8, [c + 2 for c in columns]].T)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_lanes_that_are_off_are_zero_and_not_loaded(kind: str) -> None:
    # The page after the array cannot be accessed.
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 0) == 0
    mask = "dense<[true, true, true, true, true, false, false, false]>"
    code = copy_of_columns(kind, 8, list(range(6)), mask)
    element = NUMPY_TYPES[kind]
    whole = np.frombuffer(pages, element, mmap.PAGESIZE // np.dtype(element).itemsize)
    used = 4 * PITCH + 6
    whole[-used:] = np.arange(1, used + 1)
    rows = np.lib.stride_tricks.as_strided(
        whole[-used:], (5, 6), (PITCH * whole.itemsize, whole.itemsize)
    )
    b = np.zeros((32, 8), element)
    address = start + mmap.PAGESIZE - used * whole.itemsize
    # The function sees a larger array, of which it must not touch more.
    memory = (ctypes.c_char * (ROWS * PITCH * whole.itemsize)).from_address(address)
    a = np.frombuffer(memoryview(memory), element).reshape(ROWS, PITCH)
    code("f", 0, a, b)
    np.testing.assert_array_equal(b[:6, :5], rows.T)
    assert not b[:, 5:].any()
    assert "masked.gather" not in code.llvm_ir
    assert protect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 3) == 0


def test_a_store_between_gathers_is_seen() -> None:
    memref = f"memref<{ROWS}x{PITCH}xf64>"
    change = f"%one = arith.constant 77.0 : f64\naffine.store %one, %A[1, 2] : {memref}"
    lines = [f"func.func @f(%A: {memref}, %B: memref<8x8xf64>) {{"]
    lines += [
        "%c0 = arith.constant 0 : index",
        f"%o = arith.constant dense<{[PITCH * lane for lane in range(8)]}> : vector<8xindex>",
        "%m = arith.constant dense<true> : vector<8xi1>",
        "%z = arith.constant dense<0.0> : vector<8xf64>",
    ]
    for column in range(8):
        lines += [
            f"%p{column} = arith.constant {column} : index",
            f"%v{column} = vector.gather %A[%c0, %p{column}] [%o], %m, %z : {memref}, "
            "vector<8xindex>, vector<8xi1>, vector<8xf64> into vector<8xf64>",
            f"affine.vector_store %v{column}, %B[{column}, 0] : memref<8x8xf64>, vector<8xf64>",
        ]
        if column == 1:
            lines.append(change)
    code = MachineCode("\n".join([*lines, "return", "}"]))
    a, b = arrays("f64", 8)[0], np.zeros((8, 8))
    before = a.copy()
    code("f", a, b)
    assert before[1, 2] != 77
    assert b[2, 1] == 77
    before[1, 2] = 77
    np.testing.assert_array_equal(b, before[:8, :8].T)


def test_neighbouring_elements_need_no_gather() -> None:
    code = MachineCode("""
    func.func @f(%n: index, %A: memref<40x1xf32>, %B: memref<40x1xf32>) {
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %offsets = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xindex>
      %mask = vector.create_mask %n : vector<8xi1>
      %other = arith.constant dense<9.0> : vector<8xf32>
      %v = vector.gather %A[%c3, %c0] [%offsets], %mask, %other
        : memref<40x1xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>
      %w = arith.addf %v, %v : vector<8xf32>
      vector.scatter %B[%c3, %c0] [%offsets], %mask, %w
        : memref<40x1xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32>
      return
    }""")
    assert "gather" not in code.llvm_ir and "scatter" not in code.llvm_ir
    for n in (0, 3, 8):
        a = np.arange(40, dtype=np.float32).reshape(40, 1)
        b = np.zeros((40, 1), np.float32)
        code("f", n, a, b)
        expected = np.zeros((40, 1), np.float32)
        expected[3 : 3 + n] = 2 * a[3 : 3 + n]
        np.testing.assert_array_equal(b, expected)
