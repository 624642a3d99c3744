"""Loops beside jumps in drop-in sources: what the C compiler computes, between the same braces."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright

LOOPS = {
    "A": "for (int i = 0; i < n; i++) y[i] = 2 * x[i] + t;",
    "B": "for (int i = 0; i < n; i++) x[i] += y[i];",
    "C": "for (int i = 0; i < n; i++) w[i] += x[i];",
}
BODIES = {
    "else with continue": ("if (z[t] > 0) { A } else { k++; continue; } B C k += 3;", 2),
    "if with continue": ("if (z[t] > 0) { A continue; } B C k += 3;", 2),
    "below conditions": ("if (z[t] > 0) { if (z[t] == 2) continue; A } B C k += 3;", 2),
    "goto in else": ("if (z[t] > 0) { A } else { k++; goto end; } B C end: k += 3;", 2),
    "two ways": ("if (z[t] > 0) goto other; A k += 2; goto end; other: B C end: k += 3;", 2),
    "clean-up": ("if (z[t] > 0) { if (z[t] == 2) goto bad; k++; } A B C bad: k += 3;", 1),
    "past others": ("if (z[t] > 0) { if (n > 1) goto out; A } B C out: k += 3;", 2),
    "continue past others": ("if (z[t] > 0) { if (n > 1) continue; A } B C k += 3;", 2),
    "do": ("do { if (z[t] > 0) { if (z[t] == 2) break; k++; } A B } while (0); C", 2),
    "switch": ("switch (z[t]) { case 1: A k++; break; case 2: B C break; default: k += 2; }", 2),
    "commas": ("k++, w[0] += z[0]; A B", 1),
}


def source(name: str) -> str:
    """A function with loops in a body."""
    body = "".join(f"{LOOPS.get(each, each)}\n" for each in BODIES[name][0].split(" "))
    return (
        "int f(int n, const int *restrict z, double *restrict x, double *restrict y,\n"
        "      double *restrict w) {\nint k = 0;\n"
        f"for (int t = 0; t < n; t++) {{\n{body}}}\nreturn k;\n}}\n"
    )


@pytest.mark.parametrize("name", BODIES)
def test_loops_beside_jumps(name: str, tmp_path: Path) -> None:
    path, text = tmp_path / "f.c", source(name)
    path.write_text(text)
    made = loopwright.drop_in(path, tmp_path / "g.c")
    assert len(made.replaced) >= BODIES[name][1]
    libraries: list[ctypes.CDLL] = []
    for folder, each in (("a", text), ("b", (tmp_path / "g.c").read_text())):
        (tmp_path / folder).mkdir()
        libraries.append(build(compilers()[0], [each], tmp_path / folder, "-O1"))
    for n in (0, 1, 2, 9):
        random = np.random.default_rng(n)
        first = (random.integers(-1, 4, n, dtype="i4"), *random.standard_normal((3, n)))
        results: list[tuple[object, ...]] = []
        for library in libraries:
            arrays = [np.array(each) for each in first]
            count = library.f(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in arrays))
            results.append((count, *(each.tolist() for each in arrays)))
        assert results[0] == results[1]


def test_marks_in_different_braces(tmp_path: Path) -> None:
    """What follows the condition is in one block with A, but not in the text."""
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, const int *z, double *x) {\n"
        "    for (int t = 0; t < n; t++) {\n"
        "        if (z[t] > 0) {\n#pragma scop\n"
        "            for (int i = 0; i < n; i++) x[i] += 1;\n"
        "        } else\n            continue;\n"
        "        for (int i = 0; i < n; i++) x[i] += 2;\n#pragma endscop\n"
        "    }\n}\n"
    )
    with pytest.raises(loopwright.errors.SourceError, match="begins and ends in different blocks"):
        loopwright.load(path)


@pytest.mark.parametrize(
    "statement",
    [
        "do { x[0] += a[0]; } while (0);",
        "do { x[0] *= 2; n--; } while (n > 0);",
        "k = 0, x[0] = a[0];",
        "scale(n, a, x);",
        "memset(x, 0, n * sizeof(double));",
        "{ x[0] = 1; }",
        "double v[3] = {1, 2, 3}; x[0] = v[1];",
        "if (scaled(a[0]) > 2) x[0] = 1; else x[0] = 2;",
        "switch (n) { case 1: x[0] = 2; break; default: x[0] = 3; }",
        "for (k = 0, n = 8; k < n; k++, n--) x[0] += 1;",
        "while (n > 0) { x[0] *= 2; n--; }",
        "SET(x); SET(x)",
        "; x[0] = scaled(a[0]); ;",
    ],
)
def test_every_statement_may_be_a_marked_region(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "#include <string.h>\n#define SET(p) do { (p)[0] = 1; } while (0);\n"
        "static double scaled(double v) { double t = 2 * v; t += 1; return t; }\n"
        "static void scale(int n, const double *a, double *x)\n"
        "{ for (int i = 0; i < n; i++) x[i] *= a[i]; }\n"
        "void f(int n, const double *restrict a, double *restrict x) {\n    int k = 0;\n"
        f"#pragma scop\n{statement}\n#pragma endscop\n    (void)k;\n}}\n"
    )
    assert loopwright.load(path)["f"].scop
