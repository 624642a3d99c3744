"""Subscripts that conditions choose: images that go on beyond borders, periodic grids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.passes.polyhedral.gathers import gathered_arrays

CROSS = """
void cross(int h, int w, float a[h][w], float o[h][w]) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      int l = j > 0 ? j - 1 : 0, r = j < w - 1 ? j + 1 : w - 1;
      int u = i > 0 ? i - 1 : 0, d = i + 1 < h ? i + 1 : h - 1;
      o[i][j] = a[i][l] + a[i][r] + a[u][j] + a[d][j] + a[u][l] - 4 * a[i][j];
    }
}
"""

SUMS = """
void sums(int h, int w, unsigned char a[h][w], int o[h][w]) {
  for (int j = 0; j < w; j++)
    for (int i = 0; i < h; i++)
      o[i < 3 ? i : 3][j] += a[i][j + 2 < w ? j + 2 : w - 1];
}
"""

CLAMPED = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void clamped(int h, int w, float a[h][w], float o[h][w]) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      float s = 0;
      for (int k = -2; k <= 2; k++) {
        int y = MIN(MAX(i + k, 0), h - 1);
        s += a[i][MIN(MAX(j + k, 0), w - 1)] + 2 * a[y][j];
      }
      o[i][j] = s;
    }
}
"""

REFLECTED = """
void reflected(int n, float a[n], float o[n]) {
  for (int i = 0; i < n; i++)
    o[i] = a[i < 2 ? 2 - i : i - 2] + a[i > 1 && n > i ? i / 2 : n - 1 - i];
}
"""

TEXT = """
func.func @f(%n: index, %x: memref<?xf64>, %y: memref<?xf64>) {
  %zero = arith.constant 0 : index
  affine.for %i = 0 to %n {
    %0 = affine.max affine_map<(d0) -> (d0 - 2, 0)>(%i)
    %1 = memref.load %x[%0] : memref<?xf64>
    %2 = affine.min affine_map<(d0)[s0] -> (d0 + 1, s0 - 1, 11)>(%i)[%n]
    %3 = affine.load %x[%2] : memref<?xf64>
    %4 = arith.subf %1, %3 : f64
    affine.store %4, %y[%i] : memref<?xf64>
  }
  return
}
"""
SHAPES = ((1, 1), (1, 5), (2, 2), (7, 3), (9, 40))
SCHEDULES = (None, "default", "affine-schedule{fusion=maximal}")


def load(text: str, tmp_path: Path) -> loopwright.Function:
    file = tmp_path / "program.c"
    file.write_text(text)
    return next(iter(loopwright.load(file).values()))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_neighbours_beyond_the_border(tmp_path: Path, schedule: str | None) -> None:
    f = load(CROSS, tmp_path)
    assert not any(each.is_opaque for each in f.scop.statements)
    for h, w in SHAPES:
        a, o = np.random.rand(h, w).astype("f4"), np.zeros((h, w), "f4")
        f.compile(schedule, threads=1)(h, w, a, o)
        i, j = np.indices((h, w))
        up, down = np.maximum(i - 1, 0), np.minimum(i + 1, h - 1)
        left, right = np.maximum(j - 1, 0), np.minimum(j + 1, w - 1)
        expected = a[i, left] + a[i, right] + a[up, j] + a[down, j] + a[up, left] - 4 * a
        np.testing.assert_allclose(o, expected, atol=1e-5)


@pytest.mark.parametrize("schedule", [None, "default"])
def test_positions_between_two_limits(tmp_path: Path, schedule: str | None) -> None:
    f = load(CLAMPED, tmp_path)
    assert not any(each.is_opaque or [*gathered_arrays(each)] for each in f.scop.statements)
    for h, w in SHAPES:
        a, o = np.random.rand(h, w).astype("f4"), np.zeros((h, w), "f4")
        f.compile(schedule, threads=1)(h, w, a, o)
        i, j = np.indices((h, w))
        expected = sum(
            a[i, np.clip(j + k, 0, w - 1)] + 2 * a[np.clip(i + k, 0, h - 1), j]
            for k in range(-2, 3)
        )
        np.testing.assert_allclose(o, expected, 1e-5)


@pytest.mark.parametrize("schedule", [None, "default"])
def test_positions_that_are_reflected(tmp_path: Path, schedule: str | None) -> None:
    f = load(REFLECTED, tmp_path)
    for n in (3, 4, 9, 40):
        a, o = np.random.rand(n).astype("f4"), np.zeros(n, "f4")
        f.compile(schedule, threads=1)(n, a, o)
        i = np.arange(n)
        np.testing.assert_array_equal(o, a[abs(i - 2)] + a[np.where(i > 1, i // 2, n - 1 - i)])


@pytest.mark.parametrize("schedule", [None, "default"])
def test_elements_that_are_written(tmp_path: Path, schedule: str | None) -> None:
    f = load(SUMS, tmp_path)
    for h, w in SHAPES:
        a, o = np.random.randint(0, 256, (h, w)).astype("u1"), np.zeros((h, w), "i4")
        f.compile(schedule, threads=1)(h, w, a, o)
        expected = np.zeros((h, w), "i4")
        i, j = np.indices((h, w))
        np.add.at(expected, (np.minimum(i, 3), j), a[i, np.minimum(j + 2, w - 1)])
        np.testing.assert_array_equal(o, expected)


@pytest.mark.parametrize("schedule", [None, "default"])
def test_affine_min_and_max_in_the_text(schedule: str | None) -> None:
    f = loopwright.load(TEXT)["f"]
    for n in (1, 2, 3, 9, 40):
        x, y = np.random.rand(n), np.zeros(n)
        f.compile(schedule, threads=1)(n, x, y)
        i = np.arange(n)
        last = np.minimum(np.minimum(i + 1, n - 1), 11)
        np.testing.assert_array_equal(y, x[np.maximum(i - 2, 0)] - x[last])


FORMS = {
    "clamped": "P = I - 1 < 0 ? 0 : I - 1;",
    "mirrored": "P = I + 2; if (P >= N) P = 2 * N - 2 - P; if (P < 0) P = -P;",
    "mirrored in one": "P = I - 2; P = P < 0 ? -P : (P >= N ? 2 * N - 1 - P : P);",
    "periodic": "P = (I + N - 1) % N;",
    "periodic on": "P = (I + 1) % N;",
    "periodic by a condition": "P = I + 1 == N ? 0 : I + 1;",
    "periodic by branches": "P = I - 1; if (P < 0) P += N;",
    "periodic twice": "P = ((I - 1) % N + N) % N;",
    "two conditions": "P = I > 0 && I < N - 1 ? I - 1 : N - 1 - I;",
    "one of two": "P = I == 0 || I == N - 1 ? N - 1 - I : I;",
    "blocks": "P = (I + N) / N - 1 + I;",
}
BORDERS = """
void borders(int h, int w, TYPE a[h][w], TYPE o[h][w]) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      int x, y;
      FORMS
      WHERE = 3 * a[y][x] + a[i][x] - a[y][j];
    }
}
"""


def position(form: str, index: int, extent: int) -> int:
    """Where a form of a subscript is, for C's division."""
    last = extent - 1
    match form:
        case "clamped":
            return max(index - 1, 0)
        case "mirrored":
            mirrored = index + 2 if index + 2 < extent else 2 * last - index - 2
            return abs(mirrored)
        case "mirrored in one":
            moved = index - 2
            return -moved if moved < 0 else moved if moved < extent else 2 * extent - 1 - moved
        case "periodic" | "periodic by branches" | "periodic twice":
            return (index - 1) % extent
        case "periodic on" | "periodic by a condition":
            return (index + 1) % extent
        case "two conditions":
            return index - 1 if 0 < index < last else last - index
        case "one of two":
            return last - index if index in (0, last) else index
        case _:
            return index


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize("kind", ["float", "unsigned char"])
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_borders(form: str, kind: str, schedule: str | None, tmp_path: Path) -> None:
    texts = [
        FORMS[form].replace("P", name).replace("I", index).replace("N", extent)
        for name, index, extent in (("y", "i", "h"), ("x", "j", "w"))
    ]
    program = BORDERS.replace("FORMS", " ".join(texts)).replace("TYPE", kind)
    f = load(program.replace("WHERE", "o[i][j]"), tmp_path)
    assert not any(each.is_opaque or [*gathered_arrays(each)] for each in f.scop.statements)
    kernel = f.compile(schedule, threads=1, verify=True)
    for h, w in ((3, 3), (4, 3), (5, 70), (33, 130)):
        a = (
            np.random.default_rng(h)
            .integers(0, 9, (h, w))
            .astype("f4" if kind == "float" else "u1")
        )
        o = np.zeros_like(a)
        kernel(h, w, a, o)
        y, x = ([position(form, k, extent) for k in range(extent)] for extent in (h, w))
        expected = 3 * a[np.ix_(y, x)] + a[:, x] - a[y, :]
        np.testing.assert_array_equal(o, expected)


@pytest.mark.parametrize("schedule", [None, "default", "affine-schedule{fusion=minimal}"])
def test_periodic_grids_in_place(schedule: str | None, tmp_path: Path) -> None:
    forms = "x = (j + 1) % w; y = i == 0 ? h - 1 : i - 1;"
    program = BORDERS.replace("FORMS", forms).replace("TYPE", "int").replace("WHERE", "a[y][x]")
    f = load(program.replace("TYPE", "int"), tmp_path)
    assert not any(each.is_opaque for each in f.scop.statements)
    kernel = f.compile(schedule, threads=1, verify=True)
    for h, w in ((1, 1), (1, 4), (3, 2), (20, 33)):
        a = np.random.default_rng(w).integers(-9, 9, (h, w)).astype("i4")
        expected = a.copy()
        kernel(h, w, a, np.zeros_like(a))
        with np.errstate(over="ignore"):
            for i in range(h):
                for j in range(w):
                    y, x = (i - 1) % h, (j + 1) % w
                    expected[y, x] = 3 * expected[y, x] + expected[i, x] - expected[y, j]
        np.testing.assert_array_equal(a, expected)


INLINED = """
static int at(int x, int n) { return x < 0 ? 0 : (x >= n ? n - 1 : x); }
void blur(int h, int w, unsigned char a[h][w], int o[h][w], int b[h][w]) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      b[i][j] = a[at(i + 2, h)][1 + at(j - 1, w - 1)];
      int s = 0;
      for (int u = -2; u <= 2; u++)
        for (int v = -1; v <= 1; v++)
          s += a[at(i + u, h)][at(j + v, w)];
      o[i][j] = s;
    }
}
"""


@pytest.mark.parametrize("schedule", [None, "default"])
def test_functions_that_clamp(schedule: str | None, tmp_path: Path) -> None:
    f = load(INLINED, tmp_path)
    assert not any(each.is_opaque or [*gathered_arrays(each)] for each in f.scop.statements)
    kernel = f.compile(schedule, threads=1)
    for h, w in ((1, 2), (3, 3), (20, 90)):
        a = np.random.default_rng(w).integers(0, 256, (h, w)).astype("u1")
        o, b = np.zeros((2, h, w), "i4")
        kernel(h, w, a, o, b)
        rows = np.pad(a, ((2, 2), (1, 1)), mode="edge").astype("i4")
        sums = sum(rows[u : u + h, v : v + w] for u in range(5) for v in range(3))
        np.testing.assert_array_equal(o, sums)
        i, j = np.indices((h, w))
        np.testing.assert_array_equal(b, a[np.minimum(i + 2, h - 1), 1 + np.clip(j - 1, 0, w - 2)])


@pytest.mark.parametrize(
    "form", ["x = (j * j) % w;", "x = (j + 3 * w) % w;", "x = (int)a[i][j] % w;", "x = j % 7 % w;"]
)
def test_what_has_many_cases_stays_right(form: str, tmp_path: Path) -> None:
    program = BORDERS.replace("FORMS", f"y = i; {form}").replace("WHERE", "o[i][j]")
    f = load(program.replace("TYPE", "int"), tmp_path)
    for w in (7, 9, 40):
        a = np.random.default_rng(w).integers(0, 99, (5, w)).astype("i4")
        o = np.zeros_like(a)
        f.compile("default", threads=1)(5, w, a, o)
        i, j = np.indices(a.shape)
        x = {"(j * j": j * j, "(j + 3": j, "(int)a": a, "j % 7 ": j % 7}[form[4:10]] % w
        np.testing.assert_array_equal(o, 3 * a[i, x] + a[i, x] - a)


@pytest.mark.parametrize("schedule", [None, "default"])
def test_periodic_grids_in_python(schedule: str | None) -> None:
    @loopwright.kernel
    def step(n: int, a: loopwright.f64["n", "n"], o: loopwright.f64["n", "n"]):
        for i in range(n):
            for j in range(n):
                o[i, j] = (
                    a[(i - 1) % n, j] - 2 * a[(i + 1) % n, (j + n - 1) % n] + a[i, (j + 1) % n]
                )

    assert not any(each.is_opaque for each in step.function.scop.statements)
    for n in (1, 2, 3, 50):
        a, o = np.random.default_rng(n).random((n, n)), np.zeros((n, n))
        step.compile(schedule, threads=1)(n, a, o)
        up, down = np.roll(a, 1, 0), np.roll(a, -1, 0)
        np.testing.assert_allclose(o, up - 2 * np.roll(down, 1, 1) + np.roll(a, -1, 1))


LOOPS = {
    "scf.for": "scf.for %i = %c0 to %n step %c1 {",
    "affine.for": "affine.for %i = 0 to %n {",
    "affine.parallel": "affine.parallel (%i) = (0) to (symbol(%n)) {",
    "scf.parallel": "scf.parallel (%i) = (%c0) to (%n) step (%c1) {",
}


@pytest.mark.parametrize("remainder", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
def test_loops_of_all_dialects(loop: str, remainder: bool) -> None:
    """Bounds of affine.parallel are not looked at: a quotient there may be any number."""
    position = "arith.remsi %next, %n" if remainder else "arith.minsi %next, %last"
    f = loopwright.load(
        f"""func.func @f(%n: index, %x: memref<?xf64>, %y: memref<?xf64>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.subi %n, %c1 : index
  {LOOPS[loop]}
    %next = arith.addi %i, %c1 : index
    %place = {position} : index
    %0 = memref.load %x[%place] : memref<?xf64>
    memref.store %0, %y[%i] : memref<?xf64>
    {"scf.reduce" if loop == "scf.parallel" else ""}
  }}
  return
}}"""
    )["f"]
    is_known = not remainder or loop != "affine.parallel"
    assert any(each.is_opaque for each in f.scop.statements) != is_known
    for n in (1, 2, 50):
        x, y = np.random.default_rng(n).random(n), np.zeros(n)
        f.compile("default", threads=1)(n, x, y)
        i = np.arange(1, n + 1)
        np.testing.assert_array_equal(y, x[i % n if remainder else np.minimum(i, n - 1)])


def test_limits_of_numbers_from_memory_are_looked_up(tmp_path: Path) -> None:
    f = load(
        "void f(int n, int m, int J[n], float a[m], float o[n]) {\n"
        "  for (int i = 0; i < n; i++) o[i] = a[J[i] < m ? J[i] : m - 1];\n}\n",
        tmp_path,
    )
    places = np.random.default_rng(3).integers(0, 30, 40).astype("i4")
    a, o = np.random.default_rng(4).random(17).astype("f4"), np.zeros(40, "f4")
    f.compile("default", threads=1)(40, 17, places, a, o)
    np.testing.assert_array_equal(o, a[np.minimum(places, 16)])


def test_many_independent_choices(tmp_path: Path) -> None:
    """All cases of all of them together would be sixteen million."""
    limits = ", ".join(f"int p{k}" for k in range(24))
    terms = " + ".join(f"a[i < p{k} ? 0 : i]" for k in range(24))
    text = f"void f(int n, float a[n], float o[n], {limits}) {{\n"
    f = load(f"{text}  for (int i = 0; i < n; i++)\n    o[i] = {terms};\n}}\n", tmp_path)
    a, o = np.arange(1, 31).astype("f4"), np.zeros(30, "f4")
    f.compile(None, threads=1)(30, a, o, *range(24))
    expected = sum(np.where(np.arange(30) < k, a[0], a) for k in range(24))
    np.testing.assert_array_equal(o, expected)
