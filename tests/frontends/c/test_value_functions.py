"""Functions that return a value and have loops, in expressions: what the C compiler computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from support.c_code import build, compilers

import loopwright

HELPERS = """
static double dot(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
static double norm(const double *a, int n) { return sqrt(dot(a, a, n)); }
static int first_maximum(const double *r, int n) {
    int best = 0;
    for (int i = 1; i < n; i++) if (r[i] > r[best]) best = i;
    return best;
}
static double mean(const double *r, int n) {
    if (n <= 1) return -1;
    double s = 0, k = n;
    while (n > 0) { s += r[n - 1]; n--; }
    if (s < 0) { s = -s; return s / k + 1; }
    return s / k;
}
static double weighted(const double *r) {
    double w[3] = {0.5, 2}, s = 0;
    for (int k = 0; k < 3; k++) s += w[k] * r[k];
    return s;
}
static double next(double *state) { state[0] = state[0] * 3 + 1; return state[0]; }
static double factor = 3;
static double times(double x) { return x * factor; }
static int sum_to(int n) { int s = 0; for (int i = 1; i <= n; i++) s += i; return s; }
"""

BODIES = {
    "an element": "for (int i = 0; i < n; i++) x[i] = dot(A[i], A[0], n);",
    "an update": "for (int i = 0; i < n; i++) x[0] += dot(A[i], x + 1, n - 1);",
    "several calls": "for (int i = 0; i < n; i++) x[i] = dot(A[i], A[0], n) - dot(A[i], A[1], i);",
    "calls in calls": "for (int i = 0; i < n; i++) x[i] = norm(A[i], n) * norm(A[i], n - 1);",
    "a condition": "for (int i = 0; i < n; i++) { if (dot(A[i], A[0], n) > 2) x[i] = 1; "
    "else x[i] = mean(A[i], i); }",
    "a declaration": "for (int i = 0; i < n; i++) { double m = mean(A[i], n), q = norm(A[i], n); "
    "for (int j = 0; j < n; j++) A[i][j] = (A[i][j] - m) / (q + 1); }",
    "a subscript": "for (int i = 0; i < n; i++) x[i] = A[i][first_maximum(A[i], n)];",
    "early returns": "for (int i = 0; i < n; i++) x[i] = mean(A[i], i);",
    "what is passed changes": "int k = 0; for (int i = 0; i < n; i++) { k += z[i]; "
    "x[i] = mean(A[i], k / 9 + 1 < n ? k / 9 + 1 : n); }",
    "a local array with values": "for (int i = 0; i < n; i++) x[i] = weighted(&A[i][1]);",
    "a call that writes": "for (int i = 0; i < n; i++) x[i] = next(A[0]);",
    "a result that is not used": "for (int i = 0; i < n; i++) next(A[i]);",
    "names of the caller": "double s = 2; int best = n - 1; for (int i = 0; i < n; i++) "
    "{ s += dot(A[i], A[best], n); x[i] = s + best; }",
    "a bound": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] += sum_to(i);",
    "names that loops have elsewhere": "for (int i = 0; i < n; i++) { if (i > 2) "
    "for (int s = 0; s < n; s++) A[i][s] += s; x[i] = dot(A[i], A[0], n) + norm(A[0], i); }",
    "a global variable": "for (int i = 0; i < n; i++) x[i] = times(x[i]) + times(A[i][0]);",
    "in the head of a loop": "for (int i = first_maximum(x, n); i < n; i++) x[i] = 7;",
    "an alternative": "for (int i = 0; i < n; i++) x[i] = i > 2 ? mean(A[i], n) : 0;",
    "behind &&": "for (int i = 0; i < n; i++) if (i > 2 && mean(A[i], n) > 0) x[i] = 1;",
    "behind || of data": "for (int i = 0; i < n; i++) if (x[i] > 0 || mean(A[i], n) > 0) x[i] = 1; "
    "else x[i] = z[i] && (mean(A[i], n) < 0 || dot(A[i], x, n) > 3);",
}
REFUSED = {
    "one of two arrays": "for (int i = 0; i < n; i++) x[i] = mean(i % 2 == 0 ? A[i] : A[0], n);",
    "an alternative that writes": "for (int i = 0; i < n; i++) x[i] = z[i] ? next(A[0]) : 0;",
    "writes beside others": "for (int i = 0; i < n; i++) x[i] = A[0][0] + next(A[0]);",
    "two that write": "for (int i = 0; i < n; i++) x[i] = next(A[0]) - next(A[0]);",
    "a target that reads": "for (int i = 0; i < n; i++) x[z[i]] = next(A[0]);",
    "a test that writes": "for (int i = 0; i < n; i++) if (next(A[0]) > 3) x[i] = 1;",
    "the bound of a loop": "for (int i = 0; i < sum_to(2); i++) x[i] = 1;",
}


def _text(body: str) -> str:
    head = "double A[restrict n][n], double *restrict x, int *restrict z"
    return f"#include <math.h>\n{HELPERS}void f(int n, {head}) {{\n#pragma scop\n{body}\n" + (
        "#pragma endscop\n}\n"
    )


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("schedule", [None, "default"])
def test_calls_in_expressions(schedule: str | None, name: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(_text(BODIES[name]))
    kernel = loopwright.load(path)["f"].compile(schedule, threads=1)
    library = build(compilers()[0], [path.read_text()], tmp_path, "-O0", "-w", "-Wno-error")
    for n in (5, 6, 17):
        random = np.random.default_rng(n)
        arrays = {
            "A": random.integers(-3, 4, (n, n)).astype(float),
            "x": random.integers(-3, 4, n).astype(float),
            "z": random.integers(0, n, n).astype(np.int32),
        }
        ours, theirs = ({k: each.copy() for k, each in arrays.items()} for _ in range(2))
        more = (3.0,) if "times" in BODIES[name] else ()  # what is global is an argument
        kernel(n, *ours.values(), *more)
        library.f(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in theirs.values()))
        for each in arrays:
            np.testing.assert_allclose(ours[each], theirs[each], 1e-14, 1e-14, err_msg=each)


@pytest.mark.parametrize("name", REFUSED)
def test_calls_that_stay(name: str, tmp_path: Path) -> None:
    """C evaluates these in an order, or under a condition, that statements before would change."""
    path = tmp_path / "f.c"
    path.write_text(_text(REFUSED[name]))
    with pytest.raises(loopwright.errors.SourceError, match="cannot be analysed"):
        loopwright.load(path)


def test_drop_in_source(tmp_path: Path) -> None:
    """Loops behind a condition with a call, and around calls, are replaced."""
    path, output = tmp_path / "f.c", tmp_path / "g.c"
    path.write_text(
        f"#include <math.h>\n{HELPERS}"
        "double f(int n, double A[restrict n][n], double *restrict x) {\n"
        "    double total = norm(x, n);\n"
        "    if (dot(x, x, n) > 2) {\n"
        "        for (int i = 0; i < n; i++) x[i] = dot(A[i], A[0], n) / total;\n"
        "    }\n"
        "    return mean(x, n) + total;\n}\n"
    )
    made = loopwright.drop_in(path, output)
    assert "f" in made.replaced
    texts = (path.read_text(), output.read_text().replace("double f(", "double g("))
    libraries = [
        build(compilers()[0], [text], folder, "-w", "-Wno-error", "-ffp-contract=off")
        for text, folder in zip(texts, _folders(tmp_path), strict=True)
    ]
    for n in (2, 9, 30):
        arrays = [np.random.default_rng(n).standard_normal((n, n)) for _ in range(2)]
        arrays[1] = arrays[1][0].copy()
        results: list[tuple[float, list[np.ndarray]]] = []
        for library, name in zip(libraries, "fg", strict=True):
            own = [each.copy() for each in arrays]
            function = library[name]
            function.restype = ctypes.c_double
            value = function(n, *(each.ctypes.data_as(ctypes.c_void_p) for each in own))
            results.append((value, own))
        (one, first), (other, second) = results
        assert one == other
        for left, right in zip(first, second, strict=True):
            np.testing.assert_array_equal(left, right)


SUM = "{ double s = 0; for (int i = 0; i < n; i++) s += a[i] * w[1] + k; return s; }"
HIDDEN = {
    "a parameter": (
        f"static double w[2] = {{3, 5}}, k;\nstatic double g(const double *a, int n) {SUM}\n"
        "void f(int n, const double *a, double *y, const double *w) "
        "{ for (int i = 0; i < n; i++) y[i] = g(a, n) * w[0]; }",
        "'w' is a variable of 'f', and a global one",
    ),
    "a number": (
        f"static double w[2] = {{3, 5}}, k;\nstatic double g(const double *a, int n) {SUM}\n"
        "void f(int n, const double *a, double *y) { int k = n / 2; "
        "for (int i = 0; i < n; i++) y[i] = g(a, k); }",
        "'k' is a variable of 'f', and a global one",
    ),
    "behind": (
        "static double g(const double *a, int n);\n"
        "void f(int n, const double *a, double *y) "
        "{ for (int i = 0; i < n; i++) y[i] = g(a, n); }\n"
        f"static double w[2] = {{3, 5}}, k;\nstatic double g(const double *a, int n) {SUM}",
        "is declared behind 'f'",
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_names_that_mean_something_else(name: str, tmp_path: Path) -> None:
    """The text of a call would pass another variable than the one that the function uses."""
    text, message = HIDDEN[name]
    (tmp_path / "f.c").write_text(text)
    made = loopwright.drop_in(tmp_path / "f.c", tmp_path / "g.c")
    assert "f" not in made.replaced
    assert any(message in str(each) for each in made.left_out)


def _folders(path: Path) -> list[Path]:
    folders = [path / "one", path / "two"]
    for each in folders:
        each.mkdir()
    return folders
