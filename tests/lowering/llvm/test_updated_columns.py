"""Columns of rows that are updated in place: each access sees what those before it have stored."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES, MachineCode

ROWS, WIDTH, KEPT = 34, 40, 48

Access = tuple[str, int, int]
"""What it does, by how much more its rows are apart, and with which column."""

ARITHMETIC = {"f64": "arith.addf", "f32": "arith.addf", "i32": "arith.addi", "i16": "arith.addi"}


def code_of(kind: str, lanes: int, pitch: int, accesses: list[Access]) -> MachineCode:
    """Gathers go to rows of B; scatters store the sum of the last two that were gathered."""
    vector, memref = f"vector<{lanes}x{kind}>", f"memref<{ROWS}x{WIDTH}x{kind}>"
    kept = f"memref<{KEPT}x{lanes}x{kind}>"
    zero = "0.0" if kind.startswith("f") else "0"
    lines = [
        f"func.func @f(%at: index, %A: {memref}, %B: {kept}) {{",
        *(
            f"%offsets{more} = arith.constant dense<{[(pitch + more) * k for k in range(lanes)]}>"
            f" : vector<{lanes}xindex>"
            for more in (0, 1)
        ),
        "%c = arith.constant 0 : index",
        f"%mask = arith.constant dense<true> : vector<{lanes}xi1>",
        f"%zero = arith.constant dense<{zero}> : {vector}",
    ]
    last = ["%zero", "%zero"]
    lanes_of = f"{memref}, vector<{lanes}xindex>, vector<{lanes}xi1>, {vector}"
    for number, (what, more, column) in enumerate(accesses):
        lines.append(f"%c{number} = affine.apply affine_map<(d0) -> (d0 + {column})>(%at)")
        place = f"%A[%c, %c{number}]"
        if what == "gather":
            lines += [
                f"%v{number} = vector.gather {place} [%offsets{more}], %mask, %zero"
                f" : {lanes_of} into {vector}",
                f"affine.vector_store %v{number}, %B[{number}, 0] : {kept}, {vector}",
            ]
            last = [last[1], f"%v{number}"]
        elif what == "scatter":
            lines += [
                f"%s{number} = {ARITHMETIC[kind]} {last[0]}, {last[1]} : {vector}",
                f"vector.scatter {place} [%offsets{more}], %mask, %s{number} : {lanes_of}",
            ]
        else:
            lines.append(f"affine.vector_store {last[1]}, {place} : {memref}, {vector}")
    return MachineCode("\n".join([*lines, "return", "}"]))


def run(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], pitch: int, at: int, accesses: list[Access]
) -> None:
    """One access after the other, element by element."""
    flat = a.reshape(-1)
    last = [np.zeros_like(b[0]), np.zeros_like(b[0])]
    for number, (what, more, column) in enumerate(accesses):
        first = column + at
        places = first + (pitch + more) * np.arange(len(b[0]))
        if what == "gather":
            b[number] = flat[places]
            last = [last[1], b[number].copy()]
        elif what == "scatter":
            total = last[0] + last[1]
            for place, value in zip(places, total, strict=True):
                flat[place] = value
        else:
            flat[first : first + len(b[0])] = last[1]


KINDS = [("f64", 8), ("f64", 4), ("f32", 16), ("f32", 8), ("i32", 8), ("i16", 16)]


def check(kind: str, lanes: int, pitch: int, accesses: list[Access]) -> MachineCode:
    code = code_of(kind, lanes, pitch, accesses)
    a = np.arange(1, ROWS * WIDTH + 1).reshape(ROWS, WIDTH).astype(NUMPY_TYPES[kind])
    b = np.zeros((KEPT, lanes), NUMPY_TYPES[kind])
    wanted_a, wanted_b = a.copy(), b.copy()
    run(wanted_a, wanted_b, pitch, 2, accesses)
    code("f", 2, a, b)
    np.testing.assert_array_equal(a, wanted_a)
    np.testing.assert_array_equal(b, wanted_b)
    return code


@pytest.mark.parametrize(("kind", "lanes"), KINDS)
@pytest.mark.parametrize("stride", [2, 3, 4, 6])
def test_interleaved_columns_are_loaded_together(kind: str, lanes: int, stride: int) -> None:
    accesses = [(what, 0, column) for column in range(stride) for what in ("gather", "scatter")]
    code = check(kind, lanes, stride, accesses)
    assert "masked.gather" not in code.llvm_ir
    loaded = map(int, re.findall(r"load <(\d+) x \w+>", code.llvm_ir))
    assert sum(loaded) == stride * lanes, "each element once, in the target's registers"


@pytest.mark.parametrize(("kind", "lanes"), KINDS)
@pytest.mark.parametrize("is_backwards", [False, True])
def test_a_block_of_columns_is_loaded_once_and_stored_once(
    kind: str, lanes: int, is_backwards: bool
) -> None:
    columns = range(lanes)[::-1] if is_backwards else range(lanes)
    accesses = [(what, 0, column) for column in columns for what in ("gather", "scatter")]
    code = check(kind, lanes, WIDTH, accesses)
    assert "masked.gather" not in code.llvm_ir
    assert "masked.scatter" not in code.llvm_ir


def far_apart(lanes: int) -> list[int]:
    """Rows that are transposed, and some that overlap."""
    return [lanes - 1, lanes, lanes + 1, WIDTH, WIDTH]


def interleaved(_: int) -> list[int]:
    """Rows of few elements, which are shuffled."""
    return [2, 3, 3, 4, 5, 6]


@pytest.mark.parametrize("pitches", [far_apart, interleaved])
@pytest.mark.parametrize("seed", range(60))
def test_random_accesses(seed: int, pitches: Callable[[int], list[int]]) -> None:
    """Of the same columns again, of other rows, and of rows that overlap."""
    source = random.Random(seed)
    kind, lanes = source.choice(KINDS)
    pitch = source.choice(pitches(lanes))
    whats = ["gather"] * 5 + ["scatter"] * 5 + ["store"] * source.choice([0, 0, 1])
    more = source.choice([[0], [0], [0, 1]])
    columns = range(source.choice([2, 4, lanes, lanes + 3]))
    accesses = [
        (source.choice(whats), source.choice(more), source.choice(columns)) for _ in range(KEPT)
    ]
    if source.random() < 0.5:
        # Runs of neighbours, as of unrolled loops, with something in between.
        runs = [[("gather", 0, c), ("scatter", 0, c)] for c in columns]
        accesses = [each for run_of in runs for each in run_of]
        for _ in range(source.randrange(4)):
            place = source.randrange(len(accesses))
            accesses.insert(
                place, (source.choice(whats), source.choice(more), source.choice(columns))
            )
    check(kind, lanes, pitch, accesses[:KEPT])
