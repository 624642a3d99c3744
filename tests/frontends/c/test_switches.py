"""`switch`: what the C compiler computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright

SWITCHES = {
    "on data": (
        "switch (z[i]) { case 0: x[i] = 1; break;"
        " case -3: case 2: { x[i] += 2; if (x[i] > 3) break; x[i] = 5; break; }"
        " default: x[i] = i; break; case 1: x[i] -= 1; }"
    ),
    "on a loop variable": (
        "switch (i % 4) { case 0: x[i] += 1; break; case 3: x[i] = z[i]; break; default: break; }"
    ),
    "what is tested changes": (
        "switch (z[i]) { case 0: z[i] = 1; break; case 1: z[i] = 2; x[i] = 9; break;"
        " case 2: z[i] = 0; }"
    ),
    "inside of another one": (
        "switch (i % 2) { case 1: switch (z[i]) { case 1: x[i] = 7; break; default: x[i] = 8; }"
        " break; case 0: x[i] = 6; }"
    ),
    "breaks that both branches may pass": (
        "switch (z[i]) { case 1: if (x[i] > 0) { if (x[i] > 3) break; x[i] += 1; } x[i] += 2;"
        " break;"
        " default: if (x[i] > 4) { if (x[i] < 0) break; else x[i] = 2; } x[i] += 100; break; }"
        " if (x[i] > 90) continue; x[i] -= 7;"
    ),
    "breaks of loops around": (
        "if (i == 30) break; switch (z[i]) { case 1: case 2:"
        " if (x[i] > 0) { if (x[i] > 3) break; x[i] += 1; } x[i] += 2; }"
    ),
    "cases that go on in the next one": (
        "switch (z[i]) { case 0: x[i] += 1; case 1: { int t = i; x[i] += t; } case 2: x[i] *= 2;"
        " if (x[i] > 9) break; default: x[i] -= 3; break; case 3: x[i] = 5; case 4: x[i] += z[i]; }"
    ),
    "a case that may go on": (
        "switch (z[i]) { case 1: if (i > 2) break; x[i] += 1; case 2: x[i] += 2; }"
    ),
    "labels of default": (
        "switch ((unsigned char)z[i]) { default: case 253: x[i] = 4; break; case 1: ; }"
    ),
    "continue": "switch (z[i]) { case 1: continue; case 2: x[i] = 3; break; } x[i] += 1;",
    "a loop in a case": "switch (z[i]) { case 1: for (int j = 0; j < i; j++) x[i] += 1; break; }",
}


@pytest.mark.parametrize("name", SWITCHES)
def test_switch(name: str, tmp_path: Path) -> None:
    text = (
        "void f(int n, double *restrict x, int *restrict z) {\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) {{ {SWITCHES[name]} }}\n#pragma endscop\n}}\n"
    )
    path = tmp_path / "f.c"
    path.write_text(text)
    library = build(compilers()[0], [text], tmp_path, "-O0", "-w", "-Wno-error")
    for schedule in (None, "default"):
        kernel = loopwright.load(path)["f"].compile(schedule, threads=1)
        for n in (0, 1, 37):
            random = np.random.default_rng(n)
            x, z = random.integers(-3, 6, n).astype(float), random.integers(-4, 5, n, dtype="i4")
            expected = x.copy(), z.copy()
            kernel(n, x, z)
            library.f(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in expected))
            np.testing.assert_array_equal(x, expected[0])
            np.testing.assert_array_equal(z, expected[1])


@pytest.mark.parametrize(
    "switch",
    [
        "switch (z[i]) { case 1 ... 3: x[i] = 1; }",
        "switch (z[i]) { x[i] = 2; case 1: x[i] = 1; }",
        "switch (z[i]) case 1: x[i] = 1;",
        "switch (z[i]) { case 1:; double t = 2; x[i] = t; break; case 2: t = 3; x[i] = t; }",
    ],
)
def test_switches_that_are_refused(switch: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        f"void f(int n, double *x, int *z) {{\n#pragma scop\nfor (int i = 0; i < n; i++) {switch}\n"
        "#pragma endscop\n}\n"
    )
    with pytest.raises(loopwright.errors.SourceError, match="a 'switch' that is no list of cases"):
        loopwright.load(path)
