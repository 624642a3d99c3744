"""Unsigned integers in printed C: what was shortened before stays short."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.c_code import CCode, build, compilers
from support.machine_code import NUMPY_TYPES, MachineCode

import loopwright

WIDTHS = (8, 16, 32)
SIZE = 64

# What is made of `%t` and `%u`, shortened integers of type `W`, and its type.
OPERATIONS = {
    "extui": ("arith.extui %t : W to i64", "i64"),
    "index_castui": ("arith.index_castui %t : W to index", "index"),
    "uitofp": ("arith.uitofp %t : W to f64", "f64"),
    "single": ("arith.uitofp %t : W to f32", "f32"),
    **{
        name: (f"arith.{name} %t, %u : W", "W")
        for name in ("divui", "remui", "shrui", "minui", "maxui", "ceildivui")
    },
    **{
        predicate: (f"arith.cmpi {predicate}, %t, %u : W", "i1")
        for predicate in ("ult", "ule", "ugt", "uge", "eq", "slt")
    },
}


def shortened(name: str, width: int) -> str:
    """A function that applies an operation to products shortened to a width."""
    body, result = (each.replace("W", f"i{width}") for each in OPERATIONS[name])
    array = f"memref<{SIZE}xi64>"
    return f"""
func.func @{name}_{width}(%A: {array}, %B: {array}, %R: memref<{SIZE}x{result}>) {{
  %c = arith.constant 200 : i64
  affine.for %i = 0 to {SIZE} {{
    %a = affine.load %A[%i] : {array}
    %b = affine.load %B[%i] : {array}
    %p = arith.muli %a, %c : i64
    %t = arith.trunci %p : i64 to i{width}
    %u = arith.trunci %b : i64 to i{width}
    %r = {body}
    affine.store %r, %R[%i] : memref<{SIZE}x{result}>
  }}
  return
}}"""


def numbers(seed: int) -> NDArray[Any]:
    return np.random.default_rng(seed).integers(-(1 << 20), 1 << 20, SIZE)


def as_signed(array: NDArray[Any]) -> NDArray[Any]:
    return array.view(array.dtype.str.replace("u", "i"))


@pytest.mark.parametrize("compiler", compilers())
def test_shortened_integers_compute_the_same_as_our_own_code(tmp_path: Path, compiler: str) -> None:
    text = "\n".join(shortened(name, width) for name in OPERATIONS for width in WIDTHS)
    codes = MachineCode(text, vectorise=False), CCode(text, tmp_path, compiler)
    for name, (_, result) in OPERATIONS.items():
        for width in WIDTHS:
            kind = NUMPY_TYPES[result.replace("W", f"i{width}")]
            found = [np.zeros(SIZE, kind) for _ in codes]
            for code, array in zip(codes, found, strict=True):
                code(f"{name}_{width}", numbers(1), numbers(2), array)
            np.testing.assert_array_equal(found[1], found[0], err_msg=f"{name}_{width}")
            if name in ("extui", "index_castui", "uitofp"):
                wanted = (numbers(1) * 200) % (1 << width)
                np.testing.assert_array_equal(found[0], wanted, err_msg=f"{name}_{width}")


# Of signed arrays A, B and an unsigned one U, all of which have the type T or are longer.
EXPRESSIONS = {
    "ext": "(T)(A[i] * 200)",
    "sum": "(T)(A[i] + B[i]) + 1.5",
    "twice": "(T)((T)(A[i] * 200) * 200)",
    "signed_between": "(T)(S)(A[i] * 200)",
    "division": "(T)(A[i] * 200) / (T)(B[i] | 1)",
    "shift": "(T)(A[i] * 200) >> (B[i] & 7)",
    "comparison": "(T)(A[i] * 200) < (T)(B[i] * 7)",
    "choice": "(T)(A[i] * 3) < U[i] ? (T)A[i] : U[i]",
    "element": "U[i]",
    "elements": "(T)(U[i] + U[n - 1 - i])",
    "element_as_signed": "(S)U[i]",
    "element_shift": "U[i] >> (B[i] & 7)",
    "element_division": "U[i] / 3",
}
TYPES = {
    "unsigned char": ("signed char", np.uint8),
    "unsigned short": ("short", np.uint16),
    "unsigned int": ("int", np.uint32),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("result", ["long", "double", "T"])
def test_printed_functions_do_what_their_source_does(
    tmp_path: Path, kind: str, result: str
) -> None:
    signed, unsigned = TYPES[kind]
    compiler = compilers()[0]
    parameters = "int n, long *restrict A, long *restrict B, T *restrict U, R *restrict C"
    text = f"typedef {kind} T;\ntypedef {signed} S;\ntypedef {result} R;\n" + "\n".join(
        f"void {name}({parameters}) {{\n#pragma scop\n"
        f"    for (int i = 0; i < n; i++) C[i] = {expression};\n#pragma endscop\n}}"
        for name, expression in EXPRESSIONS.items()
    )
    path = tmp_path / "source.c"
    path.write_text(text)
    (tmp_path / "printed").mkdir()
    program = loopwright.load(path)
    source = build(compiler, [text], tmp_path, "-Wno-sign-compare", "-Wno-unused-parameter")
    printed = CCode(program.module, tmp_path / "printed", compiler, "-Wno-sign-compare")
    assert f"uint{8 * np.dtype(unsigned).itemsize}_t U[" in printed.text
    element = unsigned if result == "T" else {"long": np.int64, "double": np.float64}[result]
    elements = numbers(3).astype(unsigned)
    for name in EXPRESSIONS:
        found = [np.zeros(SIZE, element) for _ in range(3)]
        arrays = numbers(1), numbers(2), elements
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*arrays, found[0])]
        source[name](ctypes.c_int(SIZE), *pointers)
        printed(name, SIZE, *map(as_signed, arrays), as_signed(found[1]))
        program[name].compile()(SIZE, *arrays, found[2])
        for each in found[1:]:
            np.testing.assert_array_equal(each, found[0], err_msg=name)
