"""Local variables that are assigned repeatedly: values handed over within a block."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.c_code import CCode, build, compilers

import loopwright

Values = NDArray[np.int32]
Reference = Callable[[Values, Values, Values], None]

HEAD = """void f(int n, int A[n][n], int B[n][n], int C[n][n]) {{
#pragma scop
{0}
#pragma endscop
}}
"""
LOOPS = "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) {{ {0} }}"


def least(a: Values, b: Values, c: Values) -> None:
    c[1:, 1:] = np.minimum(np.minimum(a[1:, 1:], b[1:, 1:] + 3), a[:-1, 1:])


def clamped(a: Values, b: Values, c: Values) -> None:
    c[1:, 1:] = np.clip(a + b, 0, 255)[1:, 1:]


def from_the_left(a: Values, b: Values, c: Values) -> None:
    for j in range(1, len(a)):
        c[1:, j] = np.minimum(c[1:, j], c[1:, j - 1] + 3) + b[1:, j]


def overwritten(a: Values, b: Values, c: Values) -> None:
    old = a[1:, 1:].copy()
    a[1:, 1:] = 7
    c[1:, 1:] = old * 2 + b[1:, 1:]


def twice(a: Values, b: Values, c: Values) -> None:
    value = (a + 1)[1:, 1:] * b[1:, 1:]
    a[1:, 1:] = value
    c[1:, 1:] = value


def carried(a: Values, b: Values, c: Values) -> None:
    c[1:, 1:] = np.cumsum(2 * a[1:, 1:].ravel()).reshape(c[1:, 1:].shape)


CASES: dict[str, tuple[Reference, int]] = {
    "int m = A[i][j]; m = m < B[i][j] + 3 ? m : B[i][j] + 3;"
    " m = m < A[i-1][j] ? m : A[i-1][j]; C[i][j] = m;": (least, 1),
    "int m = A[i][j]; if (B[i][j] + 3 < m) m = B[i][j] + 3;"
    " if (A[i-1][j] < m) m = A[i-1][j]; C[i][j] = m;": (least, 1),
    "int v; v = A[i][j]; v += B[i][j]; if (v < 0) v = 0; if (v > 255) v = 255; C[i][j] = v;": (
        clamped,
        1,
    ),
    "int m = C[i][j]; m = m < C[i][j-1] + 3 ? m : C[i][j-1] + 3; m += B[i][j]; C[i][j] = m;": (
        from_the_left,
        1,
    ),
    # What the value is made of is overwritten before the value is used.
    "int v = A[i][j]; v *= 2; A[i][j] = 7; v += B[i][j]; C[i][j] = v;": (overwritten, 3),
    # Two statements need it: neither is to compute it again.
    "int v = A[i][j]; v += 1; v *= B[i][j]; A[i][j] = v; C[i][j] = v;": (twice, 3),
}


def run(path: Path, schedule: str | None, n: int) -> tuple[int, list[Values]]:
    """The number of statements, and what the program leaves in its arrays."""
    function = loopwright.load(path)["f"]
    generator = np.random.default_rng(n)
    arrays = [generator.integers(-300, 300, (n, n)).astype(np.int32) for _ in range(3)]
    names = [each.place.name for each in function.signature.arguments]
    values = {"n": n, **dict(zip("ABC", arrays, strict=True))}
    function.compile(schedule, threads=2)(*[values[name] for name in names])
    return len(function.scop.statements), arrays


@pytest.mark.parametrize("body", CASES)
@pytest.mark.parametrize("n", [2, 9, 70])
@pytest.mark.parametrize("schedule", [None, "default"])
def test_values_are_handed_over(tmp_path: Path, body: str, n: int, schedule: str | None) -> None:
    path = tmp_path / "f.c"
    path.write_text(HEAD.format(LOOPS.format(body)))
    reference, count = CASES[body]
    found, arrays = run(path, schedule, n)
    generator = np.random.default_rng(n)
    wanted = [generator.integers(-300, 300, (n, n)).astype(np.int32) for _ in range(3)]
    reference(*wanted)
    for one, other in zip(arrays, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found == count


@pytest.mark.parametrize("n", [2, 9, 70])
def test_what_the_next_iteration_reads_stays(tmp_path: Path, n: int) -> None:
    path = tmp_path / "f.c"
    body = "s += A[i][j]; s += A[i][j]; C[i][j] = s;"
    path.write_text(HEAD.format("int s = 0; " + LOOPS.format(body)))
    generator = np.random.default_rng(n)
    wanted = [generator.integers(-300, 300, (n, n)).astype(np.int32) for _ in range(3)]
    carried(*wanted)
    for schedule in (None, "default"):
        _, arrays = run(path, schedule, n)
        for one, other in zip(arrays, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


SHORTENED = """void f(int n, int *restrict A, int *restrict C, double *restrict D) {{
#pragma scop
    for (int i = 0; i < n; i++) {{
        {0} m = A[i];
        m = m * 200;
        C[i] = m;
        {1} q = C[i] * 700;
        C[i] += q;
        q -= m;
        D[i] = q;
    }}
#pragma endscop
}}
"""
SHORT_TYPES = ("unsigned char", "signed char", "unsigned short", "short", "unsigned int", "int")


@pytest.mark.parametrize("first", SHORT_TYPES)
@pytest.mark.parametrize("second", SHORT_TYPES)
def test_values_handed_over_have_the_type_of_the_variable(
    tmp_path: Path, first: str, second: str
) -> None:
    text = SHORTENED.format(first, second)
    path = tmp_path / "f.c"
    path.write_text(text)
    (tmp_path / "printed").mkdir()
    compiler = compilers()[0]
    source = build(compiler, [text], tmp_path, "-fwrapv", "-Wno-unknown-pragmas")
    program = loopwright.load(path)
    printed = CCode(program.module, tmp_path / "printed", compiler)
    given = np.random.default_rng(1).integers(-300, 300, 50).astype(np.int32)
    found = [(np.zeros(50, np.int32), np.zeros(50)) for _ in range(3)]
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (given, *found[0])]
    source.f(ctypes.c_int(50), *pointers)
    printed("f", 50, given, *found[1])
    program["f"].compile()(50, given, *found[2])
    for each in found[1:]:
        for one, other in zip(each, found[0], strict=True):
            np.testing.assert_array_equal(one, other)
