"""Pointers to rows in drop-in sources: an array where rows are those of one, else as written."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.c_code import WARNINGS, compilers

import loopwright

PROGRAM = """\
int taken;
struct grid { int n; double **rows; };
void product(int n, int k, double **A, double *const *B, double **C) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int l = 0; l < k; l++) C[i][j] += A[i][l] * B[l][j];
        }
}
void swapped(int steps, int n, double **a, double **b) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) b[i][j] = a[i][j] + a[i - 1][j] + a[i][j + 1];
        double **old = a;
        a = b;
        b = old;
    }
}
void from_one(int n, int m, float **a, float *restrict y) {
    for (int i = 1; i <= n; i++) {
        const float *row = a[i];
        for (int j = 1; j <= m; j++) y[i] += row[j];
    }
}
static void scaled(struct grid *g) {
    for (int i = 0; i < g->n; i++)
        for (int j = 0; j < g->n; j++) g->rows[i][j] *= 2;
}
void call_scaled(int n, double **rows) {
    struct grid g = {n, rows};
    scaled(&g);
}
void bytes(int n, unsigned char *restrict out, double **a) {
    for (int i = 0; i < n; i++) out[i] = (unsigned char)a[i][0];
}
"""


def library(source: Path, *flags: str) -> ctypes.CDLL:
    built = source.with_suffix(".so")
    command = [compilers()[0], *flags, "-fPIC", "-shared", str(source), "-o", str(built)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(built))


def rows_of(array: np.ndarray) -> np.ndarray:
    """The addresses of rows."""
    first, distance = array.ctypes.data, array.strides[0]
    return np.array([first + i * distance for i in range(len(array))], np.uint64)


def layouts(n: int, m: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Memory, and the addresses of n rows of m elements in it relative to that."""
    plain, wide = np.random.default_rng(n).random((2, n, m + 5))
    plain = np.ascontiguousarray(plain[:, :m])
    one, other = (rows_of(each) - np.uint64(each.ctypes.data) for each in (plain, wide))
    yield "plain", plain, one
    yield "padded", wide, other
    yield "exchanged", plain, one[::-1]
    yield "same", plain, one * np.uint64(0)
    yield "overlapping", plain, one - np.arange(n, dtype=np.uint64) * np.uint64(8)


def address(value: np.ndarray | int) -> ctypes.c_void_p | int:
    return value.ctypes.data_as(ctypes.c_void_p) if isinstance(value, np.ndarray) else value


@pytest.fixture(params=[False, True], scope="module")
def libraries(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ctypes.CDLL, ctypes.CDLL]:
    folder = tmp_path_factory.mktemp("rows")
    source, output = folder / "rows.c", folder / "replaced.c"
    source.write_text(PROGRAM)
    made = loopwright.drop_in(source, output, machine_code=request.param)
    assert made.replaced == ("product", "swapped", "from_one", "scaled", "bytes")
    text = made.text.replace("    return 1;\n}", "    taken++;\n    return 1;\n}")
    output.write_text(text)
    return library(source, "-O0"), library(output, "-O2", *WARNINGS)


def called(compiled: ctypes.CDLL, name: str, *arguments: np.ndarray | int) -> int:
    """How many calls of optimised code a call makes."""
    taken = ctypes.c_int.in_dll(compiled, "taken")
    before = taken.value
    compiled[name](*map(address, arguments))
    return taken.value - before


@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_rows_of_one_array(libraries: tuple[ctypes.CDLL, ctypes.CDLL], n: int) -> None:
    right = np.random.default_rng(5).random((13, n))
    for kind, given, places in layouts(n, 13):
        left = places + np.uint64(given.ctypes.data)
        for other, memory, spots in layouts(n, n):
            results = [memory.copy() for _ in range(2)]
            rows = [spots + np.uint64(each.ctypes.data) for each in results]
            counts = [
                called(compiled, "product", n, 13, left, rows_of(right), each)
                for compiled, each in zip(libraries, rows, strict=True)
            ]
            np.testing.assert_allclose(results[1], results[0], rtol=1e-13)
            regular = n == 1 or {kind, other} <= {"plain", "padded"}
            assert counts == [0, int(regular)]


def test_other_uses(libraries: tuple[ctypes.CDLL, ctypes.CDLL]) -> None:
    n = 12
    results: list[list[np.ndarray]] = []
    for compiled in libraries:
        random = np.random.default_rng(1)
        a, b, c = random.random((3, n, n))
        small, y = random.random((n + 1, n)).astype("f4"), np.zeros(n + 1, "f4")
        unset = rows_of(small)
        unset[0] = 1  # Numerical Recipes: nothing reads row 0
        places = rows_of(c)
        overwritten = places.copy()
        counts = [
            called(compiled, "swapped", 5, n, rows_of(a), rows_of(b)),
            called(compiled, "swapped", 5, n, rows_of(a), rows_of(a)),
            called(compiled, "from_one", n, n - 1, unset, y),
            called(compiled, "call_scaled", n, places),
            called(compiled, "call_scaled", 0, places),
        ]
        # A region that writes to the pointers themselves stays as it is.
        counts.append(called(compiled, "bytes", 1, overwritten, overwritten))
        results.append([a, b, c, y, overwritten[:1] % np.uint64(256)])
        assert counts == ([0] * 6 if compiled is libraries[0] else [1, 0, 1, 1, 1, 0])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5 if one.dtype == "f4" else 1e-13)
