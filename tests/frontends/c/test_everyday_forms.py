"""Forms that C programs are written in: what the C compiler computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright

INITIAL = {
    "as many elements as values": (
        "static const int t[] = {3, 1, 4, 1, 5}; int u[] = {1, 2, 3}; const double v[][2] = "
        "{{1, 2}, {3, 4}}; FOR x[i] = t[(z[i] + 4) % 5] + u[i % 3] * v[i & 1][1];"
    ),
    "no braces around rows": (
        "int k[3][3] = {1, 2, 1, {2, 4}, 7, 2, 1}; int e[2][2][2] = {1, 2, {3}, 5, 6};"
        " FOR x[i] = k[i % 3][(z[i] + 4) % 3] + 10 * e[i & 1][(z[i] + 4) & 1][i % 2];"
    ),
    "elements with names": (
        "int d[8] = {[2] = 5, 6, [7] = 1}; int e[3][2] = {[1][1] = 7, 8, [0] = {1}, {[1] = 2}};"
        " FOR x[i] = d[(z[i] + 4) & 7] + 10 * e[i % 3][i & 1];"
    ),
    "a row that is given again": (
        "const int a[2][2] = {[0 ... 1] = {2, 3}, [1] = {[1] = 4}}; int b[2][2] = {{1, 2}, 3, "
        "[0] = {5}, [1][0] = 7}; FOR x[i] = a[i & 1][i / 2 & 1] + 10 * b[i & 1][i / 2 & 1];"
    ),
    "a range of elements": (
        "int g[9] = {[0 ... 3] = 2, [5] = {1}, [2] = 9}; FOR x[i] = g[(z[i] + i + 4) % 9];"
    ),
}
STEPS = {
    "a ring": "int w = 0; FOR { x[i] += x[w]; if (++w == 3) w = 0; }",
    "what was before the step": (
        "unsigned char c = 250; int k = 0; FOR { if (c++ == 255) x[i] = 1; else x[i] = c;"
        " if (k-- < z[i]) x[i] += k; }"
    ),
    "a step of an element": "FOR if (i > 6) x[--z[i % 4] & 3] = i;",
    "an element after its use": "FOR if (i > 6) { x[z[i % 4]++ & 3] = i; }",
    "a step of an element as a value": "FOR { int p = z[i / 2]++; x[i] = p; }",
}
CALLED = {
    "functions with loops in branches": (
        "FOR x[i] = z[i] > 0 ? gcd(z[i], 6) : i > 5 ? gcd(i, 4) : 7;"
    ),
    "commas in branches": "int k = 0; FOR x[i] = z[i] > 0 ? (k = i, k * k) : k;",
    "bits": (
        "FOR x[i] = __builtin_bswap32(z[i]) + (__builtin_bswap64(z[i]) & 0xffff) + 3. *"
        " __builtin_bswap16(z[i]) + __builtin_parity(z[i]) + __builtin_ffs(z[i] & 6)"
        " + __builtin_ffsll((long)z[i] << 40);"
    ),
    "aligned pointers": "const int *a = __builtin_assume_aligned(z, 4); FOR x[i] = a[i];",
}
FORMS = {**INITIAL, **STEPS, **CALLED}
HEAD = "static int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }\n"


@pytest.mark.parametrize("name", FORMS)
def test_form(name: str, tmp_path: Path) -> None:
    body = FORMS[name].replace("FOR", "for (int i = 0; i < n; i++)")
    text = (
        f"{HEAD}void f(int n, double *restrict x, int *restrict z) {{\n#pragma scop\n{body}\n"
        "#pragma endscop\n}\n"
    )
    path = tmp_path / "f.c"
    path.write_text(text)
    library = build(compilers()[0], [text], tmp_path, "-O0", "-w", "-Wno-error")
    for schedule in (None, "default"):
        kernel = loopwright.load(path)["f"].compile(schedule, threads=1, verify=True)
        for n in (0, 1, 37):
            random = np.random.default_rng(n)
            x, z = random.integers(-3, 6, n).astype(float), random.integers(-4, 5, n, dtype="i4")
            expected = x.copy(), z.copy()
            kernel(n, x, z)
            library.f(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in expected))
            np.testing.assert_array_equal(x, expected[0])
            np.testing.assert_array_equal(z, expected[1])
