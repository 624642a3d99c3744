"""Flat arrays whose rows or columns are chosen by conditions or data: what the C compiler computes.

a[(y < 0 ? 0 : y) * w + x], a[index[i] * w + x]
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright

MACROS = """\
#define CLAMP(v, l, u) ((v) < (l) ? (l) : (v) > (u) ? (u) : (v))
static inline int at(int v, int n) { return v < 0 ? 0 : v >= n ? n - 1 : v; }
static int branched(int v, int n) { if (v < 0) return 0; if (v > n - 1) return n - 1; return v; }
"""
ROWS = {
    "clamped": "int s = 0; for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) { "
    "int yy = CLAMP(y + dy, 0, h - 1), xx = CLAMP(x + dx, 0, w - 1); s += a[yy * w + xx]; } "
    "o[y * w + x] = s;",
    "minima": "int d = y + 1 < h ? y + 1 : h - 1, r = x + 2 > w - 1 ? w - 1 : x + 2; "
    "o[y * w + x] = 3 * a[d * w + r] + a[y * w + r] - a[d * w + x];",
    "mirrored": "int l = x - 1 < 0 ? 0 : x - 1; o[y * w + x] = a[w * (h - 1 - y) + l] "
    "- 5 * a[(y > 0 ? y - 1 : y) * w + (w - 1 - l)];",
    "functions": "int s = 0; for (int d = -2; d < 3; d++) s += (d + 3) * a[at(y + d, h) * w + "
    "at(x - d, w)]; o[y * w + x] = s + a[at(k[y], h) * w + branched(x + 1, w)];",
    "data": "o[y * w + x] = 2 * a[k[y] * w + x] - a[k[y] * w + (x > 0 ? x - 1 : x)];",
    "columns by data": "o[y * w + x] = "
    "a[(y > 0 ? y - 1 : y) * w + (k[y] > y || x > w ? x : w - 1 - x)];",
    "more": "if (y < h - 1 && x < w - 1) o[y * w + x] = a[(k[y] > y ? k[y] : y) * w + x + 1];",
}
FLAT = {
    "a column in the next row": "if (y + 1 < h) o[y * w + x] = a[k[y] / 2 * w + (x + 1)];",
    "a wide column": "if (y + 1 < h) o[y * w + x] = a[k[y] / 2 * w + (x > 1 ? w : x)];",
    "unsigned": "o[y * w + x] = a[(unsigned)k[y] * w + x];",
}


def text_of(body: str) -> str:
    head = "void f(int h, int w, const int *restrict k, const int *restrict a, int *restrict o)"
    loops = "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"
    return f"{MACROS}{head} {{\n  {loops} {{ {body} }}\n}}\n"


def arguments(h: int, w: int) -> list[np.ndarray]:
    random = np.random.default_rng(h * 100 + w)
    shapes = (h, w), (h, w)
    return [
        random.integers(0, max(h, 1), h, dtype=np.int32),
        *(random.integers(-999, 999, each, dtype=np.int32) for each in shapes),
    ]


SIZES = ((1, 1), (2, 5), (5, 2), (7, 9), (12, 33))


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize("name", ROWS)
def test_rows(name: str, schedule: str | None, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(text_of(ROWS[name]))
    plain = build(compilers()[0], [path.read_text()], tmp_path, "-O0", "-w", "-Wno-error")
    f = loopwright.load(path)["f"]
    assert not any(each.is_opaque for each in f.scop.statements)
    assert all(len(array.shape) == 2 for array in f.scop.arrays if array.name in ("a", "o"))
    for h, w in SIZES:
        found = arguments(h, w)
        expected = [each.copy() for each in found]
        plain.f(h, w, *(each.ctypes.data_as(ctypes.c_void_p) for each in expected))
        f.compile(schedule=schedule)(h, w, *found)
        np.testing.assert_array_equal(found[2], expected[2])


@pytest.mark.parametrize("name", [*ROWS, *FLAT])
def test_drop_in(name: str, tmp_path: Path) -> None:
    """Also where an element is in another row than its column says: it is none of the rows then."""
    path, output, library = (tmp_path / each for each in ("f.c", "g.c", "g.so"))
    path.write_text(text_of({**ROWS, **FLAT}[name]))
    plain = build(compilers()[0], [path.read_text()], tmp_path, "-O0", "-w", "-Wno-error")
    loopwright.drop_in(path, output)
    command = [compilers()[0], "-O2", "-w", "-shared", "-fPIC"]
    subprocess.run([*command, str(output), "-o", str(library)], check=True)
    for h, w in SIZES:
        found = arguments(h, w)
        expected = [each.copy() for each in found]
        for function, arrays in ((plain.f, expected), (ctypes.CDLL(str(library)).f, found)):
            function(h, w, *(each.ctypes.data_as(ctypes.c_void_p) for each in arrays))
        np.testing.assert_array_equal(found[2], expected[2])


@pytest.mark.parametrize("h", [2, 5, 9])
@pytest.mark.parametrize(("other", "step"), [("a[y]", 1), ("a[h - 1 - y]", -1)])
def test_arrays_that_are_also_used_flat_have_no_rows(
    other: str, step: int, h: int, tmp_path: Path
) -> None:
    """Of more rows than columns: `a[y]` is in another row then."""
    path, w = tmp_path / "f.c", 4
    path.write_text(text_of(f"o[y * w + x] = a[k[y] * w + x] + {other};"))
    rows, values, found = arguments(h, w)
    flat = values.ravel()
    expected = values[rows] + flat[:h][::step, None]
    loopwright.load(path)["f"].compile(schedule="default")(h, w, rows, flat, found)
    np.testing.assert_array_equal(found, expected)
